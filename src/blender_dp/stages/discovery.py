"""Stage 1: make the head list from the discovery users (the papers' CreateHeadList)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.records.head_list import HeadList
from blender_dp.sampling import Entropy

_SURVIVORS = pa.schema([("query", pa.string()), ("url", pa.string()), ("noisy_count", pa.float64())])


@dataclass(frozen=True)
class Discovery:
    """The list, and the noisy counts by which its records were chosen (already private, unused by profile `paper`)."""

    head_list: HeadList
    noisy_counts: NDArray[np.float64]
    """One for every record of the list, in its order."""


def discover(counts: Iterable[pa.RecordBatch], mechanism: LaplaceThreshold, entropy: Entropy) -> Discovery:
    """List the records whose noisy count exceeds the threshold.

    `counts` holds every distinct record once, with columns query, url and count; single items have a url of null, all of
    them. Records are decided independently of each other, so they may come in any number of batches, and none but the
    survivors is ever held.
    """
    return listed([survivors(counts, mechanism, entropy)])


def survivors(counts: Iterable[pa.RecordBatch], mechanism: LaplaceThreshold, entropy: Entropy) -> pa.Table:
    """The records of one part of the counts that are listed, with their noisy counts."""
    selector = mechanism.selector(entropy)
    parts = [_SURVIVORS.empty_table()]
    for batch in counts:
        selection = selector.select(batch["count"].to_numpy().astype(np.int64, copy=False))
        names = batch.select(["query", "url"]).take(pa.array(selection.rows))
        parts.append(pa.table([*names.columns, pa.array(selection.noisy_counts)], schema=_SURVIVORS))
    return pa.concat_tables(parts)


def listed(parts: Iterable[pa.Table]) -> Discovery:
    """Make the list of all parts' survivors."""
    # Sorted like the list: the engine's order would tell something about the records left out.
    every = pa.concat_tables(parts).sort_by([("query", "ascending"), ("url", "ascending")])
    records = zip(every["query"].to_pylist(), every["url"].to_pylist(), strict=True)
    return Discovery(HeadList.of(records), every["noisy_count"].to_numpy())
