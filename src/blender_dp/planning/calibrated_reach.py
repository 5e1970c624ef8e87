"""Which rare queries calibration could keep, if it ranks all queries that discovery lists by their noisy counts.

A nearly flat shape has a million such queries, and a list has room for a few. The noisy count of a query is at most the
number of its calibration users, together with the noise of its listed records where that is positive. Only queries are
drawn for which this bound reaches a number that the lowest count on the list practically always exceeds. Which of their
records discovery lists is independent of this. The more is known about a query, the lower is the bound: how many records it
has, how many of them are listed, and how many users these have. Queries that it rules out are left out, and the noise of the
others is drawn with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from blender_dp.evaluation.draws import poisson_counts
from blender_dp.logs.synthetic import uniform
from blender_dp.planning.levels import poisson
from blender_dp.sampling import Entropy
from blender_dp.stages import Floats, Integers

_FAR = 4.0  # standard deviations, of the number of listed records of a query
_MOST_RECORDS = 64  # with more, nearly every query could reach any number
_REPEATS = 4  # collections of the probed queries, from which the lowest count on a list is estimated
_SURE = 4.0  # standard deviations of that estimate
_NEAR = 0.1  # of a count
_HIGHEST = 100.0  # no noise is larger than this, in units of its scale


@dataclass(frozen=True)
class Reach:
    """Queries whose noisy counts could be at least `least`."""

    least: float
    records: int
    """The most records of a query that discovery lists, for all practical purposes."""
    scale: float
    """Of the Laplace noise of each record."""

    @classmethod
    def of(
        cls, means: Floats, likely: Floats, starts: Integers, weights: Floats, variance: float, queries: float
    ) -> Reach | None:
        """The noisy count that so many queries practically always reach, or more; None if that rules out too few.

        `means` has the expected calibration users of every record, `likely` the probability that discovery lists it, and
        `starts` the first record of every query; a query stands for so many (`weights`).
        """
        listed, spread = np.add.reduceat(likely, starts), np.sqrt(np.add.reduceat(likely * (1 - likely), starts))
        records = max(math.ceil(float((listed + _FAR * spread).max())), 1)
        if records > _MOST_RECORDS:
            return None
        found = _Found.of(means, likely, starts, weights, math.sqrt(variance / 2), records)
        return cls(found.reached_by(queries), records, found.scale)

    @property
    def weights(self) -> Floats:
        """The probability that a query's noisy count could reach the number, by its calibration users; the last is 1."""
        return self._table(0)[:, self.records]

    def probable(self, counts: Integers, records: Integers) -> Floats:
        """The probability that a query with so many calibration users and records could reach the number."""
        lowest = int(counts.min(initial=0))
        table = self._table(lowest)
        found: Floats = table[np.minimum(counts - lowest, len(table) - 1), self._at_most(records)]
        return found

    def _table(self, lowest: int) -> Floats:
        """The same for all counts from the lowest one on (by row), and for all numbers of records (by column)."""
        missing = self._missing(np.arange(lowest, max(math.ceil(self.least), lowest) + 1))
        return np.where(missing[:, None] > 0, poisson(self.records, missing).T @ _more_than(self.records).T, 1.0)

    def noise(self, counts: Integers, records: Integers, entropy: Entropy) -> Floats:
        """The noise of the records of queries with so many users, given that they could reach the number: a row for each."""
        return self.scale * _given_sum(self._missing(counts), self._at_most(records), self.records, entropy)

    def _missing(self, counts: Integers) -> Floats:
        """What is missing from the number, in units of the noise."""
        missing: Floats = np.maximum(self.least - counts, 0.0) / self.scale
        return missing

    def _at_most(self, records: Integers) -> Integers:
        return np.minimum(records, self.records)


@dataclass(frozen=True, eq=False)
class _Found:
    """Some queries that discovery lists, with the calibration users of their listed records, drawn several times."""

    users: Integers
    records: Integers
    weights: Floats
    """How many queries each of them stands for."""
    scale: float
    most: int

    @classmethod
    def of(cls, means: Floats, likely: Floats, starts: Integers, weights: Floats, scale: float, most: int) -> _Found:
        entropy, count = Entropy.seeded("reach"), _REPEATS * means.size
        is_listed = uniform(count, entropy) < np.tile(likely, _REPEATS)
        users = poisson_counts(np.where(is_listed, np.tile(means, _REPEATS), 0.0), entropy)
        of_queries = [np.add.reduceat(one.reshape(_REPEATS, -1), starts, axis=1).ravel() for one in (users, is_listed)]
        users, records = of_queries
        some = np.flatnonzero(records)
        return cls(users[some], np.minimum(records[some], most), np.tile(weights / _REPEATS, _REPEATS)[some], scale, most)

    def reached_by(self, queries: float) -> float:
        """The largest number that the noisy counts of this many queries surely reach; 0 if there is none."""
        low, high = 0.0, float(self.users.max(initial=0)) + _HIGHEST * self.scale
        while high - low > _NEAR:
            middle = (low + high) / 2
            low, high = (middle, high) if self._reaching(middle) >= queries else (low, middle)
        return low

    def _reaching(self, least: float) -> float:
        """How many queries surely reach a number, on average over the noise."""
        missing = (least - self.users) / self.scale
        probable = np.einsum("ij,ji->i", _sum_exceeds(self.most)[self.records], poisson(self.most, np.abs(missing)))
        reaching = self.weights * np.where(missing > 0, probable, 1 - probable)
        return float(reaching.sum() - _SURE * np.sqrt((reaching**2).sum()))


@cache
def _sum_exceeds(most: int) -> Floats:
    """How the probability that a sum of Laplace numbers exceeds x depends on the points of a Poisson process before x.

    A row for each number of numbers. The density of k numbers is a mixture of those of 1, …, k exponential numbers.
    """
    table = np.zeros((most + 1, most))
    for k in range(1, most + 1):
        masses = [math.comb(k - 1 + j, j) / 2 ** (k + j) for j in range(k)]  # of k - j exponential numbers
        table[k, :k] = np.cumsum(masses)[::-1]
    return table


@cache
def _more_than(most: int) -> Floats:
    """The probability that more than 0, 1, …, most - 1 of some numbers are positive: a row for each number of numbers."""
    masses = np.array([[math.comb(records, j) / 2**records for j in range(most + 1)] for records in range(most + 1)])
    more: Floats = np.cumsum(masses[:, ::-1], axis=1)[:, ::-1][:, 1:]
    return more


def _given_sum(u: Floats, records: Integers, most: int, entropy: Entropy) -> Floats:
    """Standard Laplace numbers, `records` in each row, given that the positive ones have a sum of at least u.

    The positive ones are the gaps of a Poisson process that has i points before u, which lie there uniformly. If j numbers
    are positive, their sum is that of j exponential numbers: it reaches u if the process has less than j points before u.
    Numbers after the last record have no meaning.
    """
    columns, count = np.arange(most), u.size * most
    before = _chosen(poisson(most, u).T * _more_than(most)[records], entropy)[:, None]
    is_possible = (np.arange(most + 1) > before) | (u == 0)[:, None]
    positive = _chosen(_ways(most)[records] * is_possible, entropy)[:, None]
    first, second = -np.log(uniform(2 * count, entropy)).reshape(2, u.size, most)
    early = np.sort(np.where(columns < before, u[:, None] * uniform(count, entropy).reshape(-1, most), np.inf), axis=1)
    late = u[:, None] + np.cumsum(np.where(columns >= before, first, 0.0), axis=1)
    gaps = np.diff(np.where(columns < before, early, late), prepend=0.0, axis=1)
    noise = np.where(columns < positive, gaps, -second)
    keys = np.where(columns < records[:, None], uniform(count, entropy).reshape(-1, most), np.inf)
    return np.take_along_axis(noise, np.argsort(keys, axis=1), axis=1)


@cache
def _ways(most: int) -> Floats:
    """In how many ways 0, 1, …, most of some numbers can be positive: a row for each number of numbers."""
    return np.array([[math.comb(records, j) for j in range(most + 1)] for records in range(most + 1)], float)


def _chosen(weights: Floats, entropy: Entropy) -> Integers:
    """A column for each row, with a probability proportional to its weight."""
    sums = np.cumsum(weights, axis=1)
    chosen: Integers = np.count_nonzero(sums <= (uniform(sums.shape[0], entropy) * sums[:, -1])[:, None], axis=1)
    return chosen
