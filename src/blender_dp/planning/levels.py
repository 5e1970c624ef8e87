"""The number of users that so many of the queries have."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from blender_dp.release.normal import normal_tail
from blender_dp.stages import Floats, Integers

_NEAR = 0.25  # users, of whom there is a whole number
_PARTS = 1000
_EXACT = 64  # the largest number whose probability is exact
_SAFETY = 1.005  # others are approximated, and then increased
_CERTAIN = 500.0  # a count with this mean exceeds every such number


def level(shares: Floats, users: int, queries: float) -> float:
    """A number of users that at least this many of the queries are expected to have, and that is hardly too low."""
    low, high = 0.0, users * float(shares.max()) + 1000 + 100 * float(np.sqrt(users * shares.max()))
    while high - low > _NEAR:
        middle = (low + high) / 2
        low, high = (middle, high) if _reaching(middle, users, shares) > queries else (low, middle)
    return low


def popular(shares: Floats, users: int, most: int, ranks: Integers, overlooked: float) -> int:
    """The number of queries that could be among the most popular ones; a small part of those may be overlooked.

    The number is one of the ranks.
    """
    if shares.size <= most:
        return int(shares.size)
    reaching = reached(max(level(shares, users, most), 1.0), users * shares[ranks - 1])  # not those that nobody has
    return int(ranks[np.argmax(from_rank(ranks, reaching) <= overlooked * most)])


def from_rank(ranks: Integers, probable: Floats) -> Floats:
    """How many queries from each of these ranks on have a property, from the probability at each rank."""
    sums: Floats = np.append(np.cumsum((probable[:-1] * np.diff(ranks))[::-1])[::-1], 0.0)
    return sums


def _reaching(least: float, users: int, shares: Floats) -> float:
    """How many queries are expected to have at least so many users."""
    first, sizes = _alike(shares.size)
    return float(sizes @ reached(least, users * shares[first]))


@cache
def _alike(queries: int) -> tuple[Integers, Integers]:
    """Runs of queries whose shares are nearly equal, if they are sorted: the first of each run, and its length."""
    first = np.unique(np.geomspace(1, queries, _PARTS).astype(np.int64)) - 1
    return first, np.diff(first, append=queries)


def reached(least: float, means: Floats) -> Floats:
    """The probability that each Poisson count reaches a number: exact for small numbers, never less for large ones.

    Citation: Wilson and Hilferty (1931), for large numbers.
    """
    count = max(math.ceil(least), 0)
    if count > _EXACT:
        return np.minimum(_SAFETY * normal_tail(3 * np.sqrt(count) * (1 - 1 / (9 * count) - np.cbrt(means / count))), 1.0)
    above: Floats = np.maximum(1 - poisson(count, means).sum(axis=0), 0.0)
    return above


def poisson(counts: int, means: Floats) -> Floats:
    """The Poisson probabilities of the counts from 0 on, so many of them: a row for each count, a column for each mean."""
    small = np.minimum(means, _CERTAIN)  # its powers do not overflow
    masses: Floats = np.exp(-small) * np.ones((counts, 1))
    masses[1:] *= np.cumprod(small / np.arange(1, max(counts, 1))[:, None], axis=0)
    return masses
