"""Stage 1: make the head list from the discovery users (the papers' CreateHeadList)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.records.head_list import HeadList
from blender_dp.sampling import Entropy


@dataclass(frozen=True)
class Discovery:
    """The list, and the noisy counts by which its records were chosen (already private, unused by profile `paper`)."""

    head_list: HeadList
    noisy_counts: Mapping[tuple[str, str], float]


def discover(counts: Iterable[pa.RecordBatch], mechanism: LaplaceThreshold, entropy: Entropy) -> Discovery:
    """List the records whose noisy count exceeds the threshold.

    `counts` holds every distinct record once, with columns query, url and count. Records are decided independently of
    each other, so they may come in any number of batches, and none but the survivors is ever held.
    """
    survivors: dict[tuple[str, str], float] = {}
    for batch in counts:
        selection = mechanism.select(batch["count"].to_numpy().astype(np.int64, copy=False), entropy)
        listed = batch.take(pa.array(selection.rows))
        names = zip(listed["query"].to_pylist(), listed["url"].to_pylist(), strict=True)
        survivors.update(zip(names, selection.noisy_counts.tolist(), strict=True))
    in_order = dict(sorted(survivors.items()))  # the engine's order would tell something about the records left out
    return Discovery(HeadList.of(in_order), in_order)
