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
        """Whoever decides about the records of one data set."""
        ...


@dataclass(frozen=True)
class Discovery:
    """The list, and the noisy counts by which its records were chosen (already private, unused by the papers)."""

    head_list: HeadList
    noisy_counts: Floats
    """One for every record of the list, in its order."""
    is_candidate: Flags
    """Which records were public before, and needed no threshold."""

    def restrict(self, queries: Iterable[str]) -> Discovery:
        """The same with only these queries."""
        wanted = set(queries)
        kept = np.array([query in wanted for query, _ in self.head_list.records()], np.bool_)
        return Discovery(self.head_list.restrict(wanted), self.noisy_counts[kept], self.is_candidate[kept])


def discover(counts: Iterable[pa.RecordBatch], mechanism: Mechanism, entropy: Entropy) -> Discovery:
    """List the records whose noisy count exceeds the threshold.

    `counts` holds every distinct record once, with columns query, url and count; single items have a url of null, all of
    them. Records are decided independently of each other, so they may come in any number of batches, and none but the
    survivors is ever held.
    """
    return combine_survivors([survivors(counts, mechanism, entropy)])


def survivors(counts: Iterable[pa.RecordBatch], mechanism: Mechanism, entropy: Entropy) -> pa.Table:
    """The records of one part of the counts that are listed, with their noisy counts."""
    selector = mechanism.selector(entropy)
    parts = [_SURVIVORS.empty_table()]
    for batch in counts:
        selection = selector.select(batch["count"].to_numpy().astype(np.int64, copy=False))
        names = batch.select(["query", "url"]).take(pa.array(selection.rows))
        parts.append(pa.table([*names.columns, pa.array(selection.noisy_counts)], schema=_SURVIVORS))
    return pa.concat_tables(parts)


def combine_survivors(parts: Iterable[pa.Table]) -> Discovery:
    """Make the list from the survivors of all parts."""
    # Sorted like the list: the engine's order would tell something about the records left out.
    every = pa.concat_tables(parts).sort_by([("query", "ascending"), ("url", "ascending")])
    records = zip(every["query"].to_pylist(), every["url"].to_pylist(), strict=True)
    counts = every["noisy_count"].to_numpy()
    return Discovery(HeadList.of(records), counts, np.zeros(counts.size, np.bool_))


def with_candidates(
    found: Discovery, candidates: HeadList, cell_counts: Integers, mechanism: LaplaceHistogram, entropy: Entropy
) -> Discovery:
    """List every candidate with a noisy count, and of what was found only what is new.

    Candidates are public, so that they are listed tells nothing, and a noisy count of each is all that has to be paid.
    `cell_counts` says how many discovery users fall on every cell of the candidates' list.
    """
    noisy = mechanism.release(cell_counts[record_cells(candidates)], entropy)
    known = set(candidates.records())
    rows = [(record, count, True) for record, count in zip(candidates.records(), noisy.tolist(), strict=True)]
    listed_now = zip(found.head_list.records(), found.noisy_counts.tolist(), strict=True)
    rows += [(record, count, False) for record, count in listed_now if record not in known]
    rows.sort(key=lambda row: (row[0][0], row[0][1] or ""))
    records, counts, public = zip(*rows, strict=True) if rows else ((), (), ())
    return Discovery(HeadList.of(records), np.array(counts, float), np.array(public, np.bool_))


def record_cells(head_list: HeadList) -> Integers:
    """The cells of the listed records, in their order: all but the ⋆ ones, or with one level all but the last."""
    layout = Layout(head_list.url_counts)
    if head_list.levels == 1:
        return np.arange(layout.cell_count - 1)
    return np.delete(np.arange(layout.cell_count), layout.star_cells)
