"""Stage 1: make the head list from the discovery users (the papers' CreateHeadList)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.mechanisms.selector import Selector
from blender_dp.sampling import Entropy
from blender_dp.stages.layout import Flags, Floats, Integers, Layout
from blender_dp_device.records.head_list import HeadList

_SURVIVORS = pa.schema([("query", pa.string()), ("url", pa.string()), ("noisy_count", pa.float64())])


class Mechanism(Protocol):
    """Decides which records are listed."""

    @property
    def tau(self) -> float:
        """The threshold in records."""
        ...

    def selector(self, entropy: Entropy) -> Selector:
        """Create the selector for the records of one data set."""
        ...


@dataclass(frozen=True)
class Discovery:
    """The list, and the noisy counts by which its records were chosen (already private; the papers do not use them)."""

    head_list: HeadList
    noisy_counts: Floats
    """One for every record, in the order of the list."""
    is_candidate: Flags
    """Which records were already public, and needed no threshold."""

    def restrict(self, queries: Iterable[str]) -> Discovery:
        """The same discovery, restricted to these queries."""
        wanted = set(queries)
        if wanted.issuperset(self.head_list.queries):
            return self
        is_wanted = np.array([query in wanted for query, _ in self.head_list.records()], np.bool_)
        return Discovery(self.head_list.restrict(wanted), self.noisy_counts[is_wanted], self.is_candidate[is_wanted])


def discover(counts: Iterable[pa.RecordBatch], mechanism: Mechanism, entropy: Entropy) -> Discovery:
    """List the records whose noisy count exceeds the threshold.

    `counts` contains every distinct record once, with columns query, url and count; for single items every url is null.
    The decisions are independent of each other, so the records may arrive in any number of batches, and only the
    survivors stay in memory.
    """
    return combine_survivors([survivors(counts, mechanism, entropy)])


def survivors(counts: Iterable[pa.RecordBatch], mechanism: Mechanism, entropy: Entropy) -> pa.Table:
    """The records from one part of the counts that are listed, with their noisy counts."""
    selector = mechanism.selector(entropy)
    parts = [_SURVIVORS.empty_table()]
    for batch in counts:
        selection = selector.select(batch["count"].to_numpy().astype(np.int64, copy=False))
        names = batch.select(["query", "url"]).take(pa.array(selection.rows))
        parts.append(pa.table([*names.columns, pa.array(selection.noisy_counts)], schema=_SURVIVORS))
    return pa.concat_tables(parts)


def combine_survivors(parts: Iterable[pa.Table]) -> Discovery:
    """Make the list from the survivors of all parts."""
    # Sorted like the list: the engine's order would reveal something about the records that are not listed.
    every = pa.concat_tables(parts).sort_by([("query", "ascending"), ("url", "ascending")])
    records = zip(every["query"].to_pylist(), every["url"].to_pylist(), strict=True)
    counts = every["noisy_count"].to_numpy()
    return Discovery(HeadList.of(records), counts, np.zeros(counts.size, np.bool_))


def with_candidates(
    discovered: Discovery, candidates: HeadList, cell_counts: Integers, mechanism: LaplaceHistogram, entropy: Entropy
) -> Discovery:
    """List every candidate with a noisy count, and every discovered record that is not a candidate.

    Candidates are public, so listing them reveals nothing, and only their noisy counts spend privacy. `cell_counts` says
    how many discovery users fall on every cell of the candidates' list.
    """
    noisy = mechanism.release(cell_counts[record_cells(candidates)], entropy)
    known = set(candidates.records())
    rows = [(record, count, True) for record, count in zip(candidates.records(), noisy.tolist(), strict=True)]
    selected = zip(discovered.head_list.records(), discovered.noisy_counts.tolist(), strict=True)
    rows += [(record, count, False) for record, count in selected if record not in known]
    rows.sort(key=lambda row: (row[0][0], row[0][1] or ""))
    records, counts, public = zip(*rows, strict=True) if rows else ((), (), ())
    return Discovery(HeadList.of(records), np.array(counts, float), np.array(public, np.bool_))


def record_cells(head_list: HeadList) -> Integers:
    """The cells of the listed records, in order: all except the ⋆ cells, or with one level all except the last."""
    layout = Layout(head_list.url_counts)
    if head_list.levels == 1:
        return np.arange(layout.cell_count - 1)
    return np.delete(np.arange(layout.cell_count), layout.star_cells)
