"""Which of the listed queries remain if there are more than M: those with the highest noisy counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from blender_dp.planning.listing import skewed_below
from blender_dp.planning.noisy_counts import Mixed
from blender_dp.stages import Floats, Integers

_SURE = 6.0  # standard deviations: practically no number differs from its mean by so many
_ALONE, _GROWTH = 30, 1.04  # queries on either side of the cutoff that are looked at one by one, and how runs grow beyond
_SIMILAR = 0.9  # the ratio of shares within a run
_TRIED = 60  # counts that are tried in order to find where the list is full
_SPREAD = np.linspace(-5.0, 5.0, 21)  # standard deviations of a count that could be at the cutoff
_COUNTS = 120  # at which the number of queries with higher counts is computed
_HALVINGS, _STEEPEST = 40, 32.0


def on_final_list(
    listed: Floats, shares: Floats, noisy_counts: Callable[[Integers], Mixed], max_queries: int, expected: float
) -> Floats:
    """The probability that each query is listed and is among the M queries with the highest noisy counts.

    A query remains if fewer than M others are listed with higher counts. The number of these others is treated as normal,
    apart from its skewness. The sum over all queries is then made equal to the `expected` length of the list.
    """
    if listed.sum() + _SURE * np.sqrt((listed * (1 - listed)).sum()) < max_queries:
        return listed
    firsts, sizes = _runs(listed, shares, max_queries)
    likely, counts = np.add.reduceat(listed, firsts) / sizes, noisy_counts(firsts + sizes // 2)
    above = counts.above(_around_cutoff(sizes, likely, counts, max_queries))
    remain = _remaining(sizes, likely[:, None] * above, max_queries)
    between = (-np.diff(above) * (remain[:, 1:] + remain[:, :-1]) / 2).sum(axis=1)
    chance = (1 - above[:, 0]) * remain[:, 0] + between + above[:, -1] * remain[:, -1]
    on_list: Floats = listed * np.repeat(_scaled(sizes * likely, np.clip(chance, 0.0, 1.0), expected), sizes)
    return on_list


def _runs(listed: Floats, shares: Floats, max_queries: int) -> tuple[Integers, Integers]:
    """Runs of queries with similar shares, short ones near the cutoff: the first query of each, and its length."""
    middle = min(int(np.searchsorted(np.cumsum(listed), max_queries)), listed.size - 1)
    growth = np.arange(1, max(np.log(listed.size / _ALONE) / np.log(_GROWTH), 0) + 2)
    apart = np.append(np.arange(_ALONE), (_ALONE * _GROWTH**growth).astype(np.int64))
    jumps = np.flatnonzero(shares[1:] < _SIMILAR * shares[:-1]) + 1
    firsts = np.unique(np.clip(np.concatenate([[0], middle - apart, middle + apart, jumps]), 0, listed.size - 1))
    return firsts, np.diff(firsts, append=listed.size)


def _remaining(sizes: Integers, is_above: Floats, max_queries: int) -> Floats:
    """The probability that less than M others are above each count: normal, with the skewness of the sum."""
    variance = is_above * (1 - is_above)
    third = variance * (1 - 2 * is_above)
    others, spread, skew = (sizes @ values - values for values in (is_above, variance, third))
    error = np.sqrt(np.maximum(spread, 1e-12))
    return skewed_below((max_queries - 0.5 - others) / error, skew / error**3)


def _around_cutoff(sizes: Integers, likely: Floats, of_runs: Mixed, max_queries: int) -> Floats:
    """Noisy counts between one that the list practically always reaches and one that it practically never does.

    They are those of the queries that could have such counts: evenly spread over each query's own distribution. Equal steps
    would be too coarse if millions of users have these queries.
    """
    tried = np.sort(of_runs.quantiles(_SPREAD[:: _SPREAD.size // 2]).ravel())
    tried = tried[np.unique(np.linspace(0, tried.size - 1, _TRIED).astype(np.int64))]
    is_above = likely[:, None] * of_runs.above(tried)
    reached, reach = sizes @ is_above, _SURE * np.sqrt(sizes @ (is_above * (1 - is_above)))
    full, free = tried[reached - 1 - reach > max_queries], tried[reached + reach < max_queries - 1]
    lowest, highest = float(full.max(initial=tried[0])), float(free.min(initial=tried[-1]))
    spread = of_runs.quantiles(_SPREAD).reshape(-1, _SPREAD.size)
    counts = np.sort(spread[(spread[:, -1] >= lowest) & (spread[:, 0] <= highest)].ravel())
    counts = np.concatenate([[lowest], counts[(counts > lowest) & (counts < highest)], [highest]])
    return counts[np.unique(np.linspace(0, counts.size - 1, _COUNTS).astype(np.int64))]


def _scaled(queries: Floats, chance: Floats, expected: float) -> Floats:
    """The chances to the power at which so many queries remain on average: certain ones stay certain."""
    low, high = 0.0, _STEEPEST
    for _ in range(_HALVINGS):
        power = (low + high) / 2
        low, high = (power, high) if queries @ chance**power > expected else (low, power)
    scaled: Floats = chance**high
    return scaled
