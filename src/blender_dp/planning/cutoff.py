"""Which of the listed queries remain if there are more than M: those with the highest noisy counts."""

from __future__ import annotations

import numpy as np

from blender_dp.release.normal import normal_tail
from blender_dp.stages import Floats

_RUNS = 1000  # of queries with similar shares
_COUNTS = 200  # at which the number of queries with higher counts is computed
_REACH, _MORE = 6.0, 16.0  # practically no number differs from its mean by so many standard deviations and this number


def on_final_list(listed: Floats, shares: Floats, users: int, noise: float, max_queries: int) -> Floats:
    """The probability that each query is listed and is among the M queries with the highest noisy counts.

    A query remains if fewer than M others are listed with higher counts. All counts are treated as normal, and so is the
    number of others with counts higher than a given one.
    """
    if listed.sum() <= max_queries:
        return listed
    firsts = np.unique(np.geomspace(1, shares.size, _RUNS).astype(np.int64)) - 1
    sizes = np.diff(firsts, append=shares.size)
    likely, means = (np.add.reduceat(values, firsts) / sizes for values in (listed, users * shares))
    counts = _around_cutoff(sizes * likely, means, noise, max_queries)
    above = normal_tail((counts - means[:, None]) / np.sqrt(means + noise)[:, None])
    is_above = likely[:, None] * above
    variance = is_above * (1 - is_above)
    others = sizes @ is_above - is_above
    spread = np.sqrt(np.maximum(sizes @ variance - variance, 1e-12))
    remain = normal_tail((others - (max_queries - 0.5)) / spread)
    between = (-np.diff(above) * (remain[:, 1:] + remain[:, :-1]) / 2).sum(axis=1)
    chance = (1 - above[:, 0]) * remain[:, 0] + between + above[:, -1] * remain[:, -1]
    on_list: Floats = listed * np.repeat(chance, sizes)
    return on_list


def _around_cutoff(queries: Floats, means: Floats, noise: float, max_queries: int) -> Floats:
    """Noisy counts that between more than M and less than M of these queries reach, in equal steps of their square roots."""
    reach = _REACH * np.sqrt(max_queries) + _MORE
    reached = np.cumsum(queries)
    first, last = np.searchsorted(reached, [max_queries - reach, max_queries + reach])
    highest = float(np.sqrt(means[first] + noise)) + _REACH
    lowest = max(float(np.sqrt(means[min(last, means.size - 1)] + noise)) - _REACH, 0.0)
    return np.linspace(lowest, highest, _COUNTS) ** 2 - noise
