"""The probability that a record is listed, and how long the list becomes: closed forms, from the mechanism's own integers.

The number of discovery users who have a record of share p is binomial, and a record that c of them have is listed with a
probability that the mechanism states exactly. Records are treated as independent of each other, which changes the length
of a list by less than its rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blender_dp.mechanisms.listing_by_count import CERTAIN
from blender_dp.release.normal import normal_tail
from blender_dp.stages import Floats, Integers

_PART = 200  # records of similar shares, whose probabilities are computed together
_NODES = 2000  # of more records than this, probabilities are interpolated: they depend on the share alone, and smoothly
LEAST = 1e-300  # a number that has a logarithm, and can be divided by
_CLEAR = 8.0  # standard deviations: a list that is longer than M by so much is never shorter than M
_MANY, _SPREAD = 1_000, 30.0  # so many queries, whose number has so large a variance, are counted by a normal distribution
_FAR = 1000.0  # the exponential function of more underflows
_RARE = 1e-3  # queries that are listed less often than this are counted together, as a Poisson number


def needed_count(of_count: Floats, probability: float = 0.5) -> int:
    """The smallest number of discovery users with the same record for which it is listed with this probability."""
    return int(np.searchsorted(of_count, probability))


def listing_probabilities(shares: Floats, users: int, of_count: Floats) -> Floats:
    """The probability that each record is listed, if this many discovery users have records with these shares."""
    return np.clip(1 - expected_values(shares, users, (1 - of_count)[:, None])[:, 0], 0.0, 1.0)


def expected_values(shares: Floats, users: int, of_count: Floats) -> Floats:
    """What each record is worth on average: a row for each share, a column for each kind of value.

    `of_count` has a row for each number of users who have the record; larger numbers are worth nothing.
    """
    if shares.size > _NODES:
        lowest, highest = (max(float(end), LEAST) for end in (shares.min(), shares.max()))
        nodes = np.geomspace(lowest, highest, _NODES)
        of_nodes = expected_values(nodes, users, of_count)
        return np.stack([np.interp(shares, nodes, values) for values in of_nodes.T], axis=1)
    counts = np.arange(len(of_count))
    ways = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(users - counts[:-1], LEAST) / (counts[:-1] + 1)))])
    order, result = np.argsort(shares), np.empty((shares.size, of_count.shape[1]))
    for part in np.array_split(order, max(1, shares.size // _PART)):
        p = np.clip(shares[part], LEAST, 1 - 1e-15)
        low, high = (int(users * end + sign * (10 * np.sqrt(users * end) + 20)) for sign, end in ((-1, p[0]), (1, p[-1])))
        some = counts[max(low, 0) : min(high, users) + 1]  # the other counts practically do not occur
        weights = np.exp(ways[some] + np.outer(np.log(p), some) + np.outer(np.log1p(-p), users - some))
        result[part] = weights @ of_count[some]
    return result


def any_of(probabilities: Floats, query_of: Integers, queries: int) -> Floats:
    """The probability that at least one record of every query is listed; 0 (not -0) for queries without records."""
    return 0.0 - np.expm1(np.bincount(query_of, weights=log_missing(probabilities), minlength=queries))


def any_within(probabilities: Floats, starts: Integers) -> Floats:
    """The same for records that are sorted by query, the last axis; `starts` has the first record of every query."""
    return 0.0 - np.expm1(np.add.reduceat(log_missing(probabilities), starts, axis=-1))


def log_missing(probabilities: Floats) -> Floats:
    """The logarithm of the probability of not being listed; no record is quite certain to be listed."""
    return np.log1p(-np.minimum(probabilities, 1 - 1e-15))


@dataclass(frozen=True, eq=False)
class Length:
    """The distribution of the number of listed queries."""

    probabilities: Floats
    """Of 0, 1, 2, ..., M queries."""

    @classmethod
    def of(cls, listed: Floats, max_queries: int, others: float = 0.0) -> Length:
        """The number of listed queries, each of which is listed with its own probability, cut off at M.

        `others` is the expected number of further queries, each of which is rarely listed.
        """
        total = np.zeros(max_queries + 1)
        if listed.sum() - _CLEAR * float(np.sqrt((listed * (1 - listed)).sum())) > max_queries:
            total[-1] = 1.0
            return cls(total)
        certain = int(np.count_nonzero(listed > 1 - CERTAIN))
        total[min(certain, max_queries)] = 1.0
        uncertain = listed[(listed <= 1 - CERTAIN) & (listed > _RARE)]
        if uncertain.size > _MANY and float((uncertain * (1 - uncertain)).sum()) > _SPREAD:
            total = _sum_of_many(uncertain, certain, max_queries)
            uncertain = uncertain[:0]
        for p in uncertain.tolist():
            moved = p * total[:-1]
            total[:-1] -= moved
            total[1:] += moved
        return cls(_with_poisson(total, others + float(listed[listed <= _RARE].sum())))

    @property
    def mean(self) -> float:
        """The expected number of queries."""
        return float(self.probabilities @ np.arange(self.probabilities.size))

    def at_least(self, queries: int) -> float:
        """The probability of this many queries or more."""
        return float(self.probabilities[queries:].sum())

    def quantile(self, probability: float) -> int:
        """The smallest number that is not exceeded with this probability."""
        return min(int(np.searchsorted(np.cumsum(self.probabilities), probability - 1e-12)), self.probabilities.size - 1)


def _sum_of_many(listed: Floats, certain: int, most: int) -> Floats:
    """The distribution of the number of listed queries, with those that are certainly listed, cut off at a maximum.

    Normal, with the skewness of the sum: one query after the other would take seconds.
    """
    variance = listed * (1 - listed)
    error = float(np.sqrt(variance.sum()))
    z = (np.arange(most) + 0.5 - certain - listed.sum()) / error
    skewness = float((variance * (1 - 2 * listed)).sum()) / error**3
    return np.diff(np.maximum.accumulate(skewed_below(z, skewness)), prepend=0.0, append=1.0)


def skewed_below(z: Floats, skewness: Floats | float) -> Floats:
    """The probability that a nearly normal number with this skewness is below its mean and z standard deviations.

    Citation: Edgeworth (1905).
    """
    bend = skewness / 6 * (z**2 - 1) * np.exp(-np.minimum(z**2, _FAR) / 2) / np.sqrt(2 * np.pi)
    below: Floats = np.clip(1 - normal_tail(z) - bend, 0.0, 1.0)
    return below


def _with_poisson(probabilities: Floats, mean: float) -> Floats:
    """The distribution of the sum with a Poisson number, cut off at the same maximum."""
    numbers = np.arange(1, min(probabilities.size, int(mean + _CLEAR * np.sqrt(mean) + _CLEAR**2)))
    more = np.exp(np.cumsum(np.log(np.append(1.0, mean / numbers) + LEAST)) - mean)
    total: Floats = np.convolve(probabilities, more)[: probabilities.size]
    total[-1] += max(1 - total.sum(), 0.0)
    return total
