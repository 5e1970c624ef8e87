"""Which of the listed queries remain if there are more than M: those with the highest noisy counts."""

from __future__ import annotations

import numpy as np

from blender_dp.release.normal import normal_tail
from blender_dp.stages import Floats

_STEPS = 40


def on_final_list(listed: Floats, shares: Floats, users: int, noise: float, max_queries: int) -> Floats:
    """The probability that each query is listed and is among the M queries with the highest noisy counts.

    The count that separates the M-th query from the next one varies little, so it counts as fixed: it is the count that
    M queries are expected to exceed. The counts of all queries are normal around their expectation.
    """
    if listed.sum() <= max_queries:
        return listed
    expected = users * shares
    spread = np.sqrt(expected + noise)
    low, high = 0.0, float(expected.max() + 10 * spread.max())
    for _ in range(_STEPS):
        middle = (low + high) / 2
        above = float(listed @ normal_tail((middle - expected) / spread))
        low, high = (middle, high) if above > max_queries else (low, middle)
    return listed * normal_tail((low - expected) / spread)
