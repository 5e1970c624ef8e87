"""The best number of queries per report."""

from __future__ import annotations

import math


def best_size(queries: int, epsilon_query: float) -> int:
    """The number of queries per report that gives the smallest error, for a list of this many queries, ⋆ included."""
    factor = math.exp(epsilon_query)
    ideal = math.floor(queries / (factor + 1))

    def variance(size: int) -> float:
        """The variance of a rare query's estimate, up to a factor: s(1-s)/(t-s)²."""
        truth = size * factor / (size * factor + queries - size)
        lie = (size - truth) / (queries - 1)
        return lie * (1 - lie) / (truth - lie) ** 2

    largest = max(1, queries - 1)
    sizes = {max(1, min(largest, size)) for size in (ideal, ideal + 1)}
    return min(sorted(sizes), key=variance) if len(sizes) > 1 else sizes.pop()
