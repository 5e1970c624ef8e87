"""Which of the listed queries remain if there are more than M: those with the highest noisy counts."""

from __future__ import annotations

import numpy as np

from blender_dp.release.normal import normal_tail
from blender_dp.stages import Floats

_STEPS, _PARTS = 40, 4_000


def on_final_list(listed: Floats, shares: Floats, users: int, noise: float, max_queries: int) -> Floats:
    """The probability that each query is listed and is among the M queries with the highest noisy counts.

    The count that separates the M-th query from the next one varies little, so it counts as fixed: it is the count that
    M queries are expected to exceed. The counts of all queries are normal around their expectation.
    """
    if listed.sum() <= max_queries:
        return listed
    parts = np.unique(np.geomspace(1, shares.size, _PARTS).astype(np.int64)) - 1  # of queries with similar shares
    sizes = np.diff(parts, append=shares.size)
    weight, mean = np.add.reduceat(listed, parts), users * np.add.reduceat(shares, parts) / sizes
    spread = np.sqrt(mean + noise)
    low, high = 0.0, float((mean + 10 * spread).max())
    for _ in range(_STEPS):
        middle = (low + high) / 2
        is_too_low = float(weight @ normal_tail((middle - mean) / spread)) > max_queries
        low, high = (middle, high) if is_too_low else (low, middle)
    return listed * np.repeat(normal_tail((low - mean) / spread), sizes)
