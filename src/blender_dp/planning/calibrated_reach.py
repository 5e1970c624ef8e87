"""Which rare queries calibration could keep, if it ranks all queries that discovery lists by their noisy counts.

A nearly flat shape has a million such queries, and a list has room for a few. The noisy count of a query is at most the
number of its calibration users, together with the noise of its listed records where that is positive. Only queries are
drawn for which this bound reaches a number that the lowest count on the list practically always exceeds. Their noise is
drawn with it; what discovery lists of them does not depend on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from blender_dp.logs.synthetic import uniform
from blender_dp.planning.levels import EXACT, poisson, reached
from blender_dp.sampling import Entropy
from blender_dp.stages import Floats, Integers

_NEAR = 0.1  # of a count
_PROBABLE = 0.5  # records that are listed with a higher probability are expected to be
_FAR = 4.0  # standard deviations, of the number of listed records of a query
_MOST_RECORDS = 64  # with more, nearly every query could reach any number
_OTHERS = 0.5  # the probability that the noise of a query's other records does not reduce its count


@dataclass(frozen=True)
class Reach:
    """Queries whose noisy counts could be at least `least`."""

    least: float
    records: int
    """The most records of a query that discovery lists, for all practical purposes."""
    scale: float
    """Of the Laplace noise of each record."""
    listed: float
    """How many records discovery is expected to list."""

    @classmethod
    def of(
        cls, means: Floats, likely: Floats, starts: Integers, weight: float, variance: float, queries: float
    ) -> Reach | None:
        """The noisy count that so many queries practically always reach, or more; None if that rules out too few.

        `means` has the expected calibration users of every record, `likely` the probability that discovery lists it, and
        `starts` the first record of every query; each query stands for so many (`weight`). A query is listed with its most
        popular record, or with all probable ones.
        """
        listed, spread = np.add.reduceat(likely, starts), np.sqrt(np.add.reduceat(likely * (1 - likely), starts))
        records = max(math.ceil(float((listed + _FAR * spread).max())), 1)
        if records > _MOST_RECORDS:
            return None
        scale, is_probable = math.sqrt(variance / 2), likely >= _PROBABLE
        together = np.multiply.reduceat(np.where(is_probable, likely, 1.0), starts)
        least = _lowest_kept(
            np.stack([np.maximum.reduceat(means, starts), np.add.reduceat(np.where(is_probable, means, 0.0), starts)]),
            np.stack([np.maximum.reduceat(likely, starts), together * np.logical_or.reduceat(is_probable, starts)]),
            scale,
            queries / weight,
        )
        return cls(least, records, scale, weight * float(likely.sum()))

    @property
    def weights(self) -> Floats:
        """The probability that a query's noisy count could reach the number, by its calibration users; the last is 1."""
        missing = self.least - np.arange(max(math.ceil(self.least), 0) + 1)
        return _sum_reaches(np.maximum(missing, 0.0) / self.scale, self.records)

    def noise(self, counts: Integers, entropy: Entropy) -> Floats:
        """The noise of the records of queries with so many users, given that they could reach the number: a row for each."""
        u = np.maximum(self.least - counts, 0.0) / self.scale
        return self.scale * _given_sum(u, self.records, entropy)


def _lowest_kept(means: Floats, listed: Floats, scale: float, queries: float) -> float:
    """A noisy count that so many of the queries are expected to reach, or more; 0 if fewer are listed.

    For each query there are several ways to be listed: with so many expected calibration users, and with this probability.
    """
    most = float(means.max(initial=0.0))
    low, high = 0.0, most + 1000 + 100 * math.sqrt(most) + 100 * scale
    while high - low > _NEAR:
        middle = (low + high) / 2
        enough = _OTHERS * float((listed * _at_least(middle, means, scale)).max(axis=0).sum()) > queries
        low, high = (middle, high) if enough else (low, middle)
    return low


def _at_least(least: float, means: Floats, scale: float) -> Floats:
    """The probability that a Poisson count with Laplace noise reaches a number; hardly more than the true one."""
    if math.ceil(least) > EXACT:
        return reached(least, means) / 2  # the count does, and the noise is positive
    masses = poisson(math.ceil(least), means.ravel())
    lifted = np.exp((np.arange(masses.shape[0]) - least) / scale)
    found: Floats = (lifted @ masses + 1 - masses.sum(axis=0)) / 2
    return found.reshape(means.shape)


def _sum_reaches(u: Floats, records: int) -> Floats:
    """The probability that the positive ones of so many standard Laplace numbers have a sum of at least u.

    If j of them are positive, their sum is that of j exponential numbers: the sum is below u if a Poisson process has j
    points or more before u.
    """
    probable: Floats = _more_than(records) @ poisson(records, u)
    return np.where(u > 0, probable, 1.0)


def _more_than(records: int) -> Floats:
    """The probability that more than 0, 1, …, records - 1 of so many numbers are positive."""
    masses = np.array([math.comb(records, j) / 2**records for j in range(records + 1)])
    more: Floats = np.cumsum(masses[::-1])[::-1][1:]
    return more


def _given_sum(u: Floats, records: int, entropy: Entropy) -> Floats:
    """Standard Laplace numbers, so many in each row, given that the positive ones have a sum of at least u.

    The positive ones are the gaps of a Poisson process that has i points before u, which lie there uniformly.
    """
    columns, count = np.arange(records), u.size * records
    before = _chosen(poisson(records, u).T * _more_than(records), entropy)[:, None]
    ways = np.array([math.comb(records, j) for j in range(records + 1)], float)
    is_possible = (np.arange(records + 1) > before) | (u == 0)[:, None]
    positive = _chosen(ways * is_possible, entropy)[:, None]
    first, second = -np.log(uniform(2 * count, entropy)).reshape(2, u.size, records)
    early = np.sort(np.where(columns < before, u[:, None] * uniform(count, entropy).reshape(-1, records), np.inf), axis=1)
    late = u[:, None] + np.cumsum(np.where(columns >= before, first, 0.0), axis=1)
    gaps = np.diff(np.where(columns < before, early, late), prepend=0.0, axis=1)
    noise = np.where(columns < positive, gaps, -second)
    order = np.argsort(uniform(count, entropy).reshape(-1, records), axis=1)
    return np.take_along_axis(noise, order, axis=1)


def _chosen(weights: Floats, entropy: Entropy) -> Integers:
    """A column for each row, with a probability proportional to its weight."""
    sums = np.cumsum(weights, axis=1)
    chosen: Integers = np.count_nonzero(sums <= (uniform(sums.shape[0], entropy) * sums[:, -1])[:, None], axis=1)
    return chosen
