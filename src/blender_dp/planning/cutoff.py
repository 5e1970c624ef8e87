"""Which of the listed queries remain if there are more than M: those with the highest noisy counts."""

from __future__ import annotations

import numpy as np

from blender_dp.release.normal import normal_tail
from blender_dp.stages import Floats

_STEPS, _PARTS = 40, 20_000


def on_final_list(listed: Floats, shares: Floats, users: int, noise: float, max_queries: int) -> Floats:
    """The probability that each query is listed and is among the M queries with the highest noisy counts.

    The count that separates the M-th query from the next one varies little, so it counts as fixed: it is the count that
    M queries are expected to exceed. The counts of all queries are normal around their expectation.
    """
    if listed.sum() <= max_queries:
        return listed

    def above(count: float, shares: Floats) -> Floats:
        return normal_tail((count - users * shares) / np.sqrt(users * shares + noise))

    parts = np.unique(np.geomspace(1, shares.size, _PARTS).astype(np.int64)) - 1  # of queries with similar shares
    weight, mean = np.add.reduceat(listed, parts), np.add.reduceat(shares, parts) / np.diff(parts, append=shares.size)
    low, high = 0.0, float(users * shares.max() + 10 * np.sqrt(users * shares.max() + noise))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(weight @ above(middle, mean)) > max_queries else (low, middle)
    return listed * above(low, shares)
