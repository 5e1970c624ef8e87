"""Which of the listed queries remain if there are more than M: those with the highest noisy counts."""

from __future__ import annotations

import math

import numpy as np

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


def normal_tail(values: Floats) -> Floats:
    """The probability that a standard normal number exceeds each value, to within 10⁻⁷ (Abramowitz and Stegun, 26.2.17)."""
    t = 1 / (1 + 0.2316419 * np.abs(values))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-(values**2) / 2) / math.sqrt(2 * math.pi) * series
    result: Floats = np.where(values >= 0, tail, 1 - tail)
    return result
