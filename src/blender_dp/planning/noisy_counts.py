"""The noisy counts that rank the listed queries: how they are distributed, given that a query is listed.

A query is ranked by the sum of the noisy counts of its listed records: discovery's with the estimator `likelihood`,
calibration's with `average`. A record that is listed by discovery has more users, and more noise, than it has on average.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blender_dp.planning.listing import LEAST, expected_values, listing_probabilities, log_missing
from blender_dp.planning.outline import TYPICAL, Outline, Records
from blender_dp.release.normal import normal_tail
from blender_dp.stages import Floats, Integers

_NODES = 128  # shares for which the noisy counts of a shape's queries are computed
_RARELY = 1e-9  # of listed queries: fewer of them do not matter
_UNBOUNDED = 1e3  # standard deviations below the mean: no count is that low, and the distribution is practically normal


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """Squares of normal numbers above a lowest count: listed counts have a floor, and are more skewed than normal ones."""

    lowest: Floats
    means: Floats
    variances: Floats

    @classmethod
    def of(cls, sums: Floats, lowest: float | None) -> NoisyCounts:
        """From the probability of each query, and the mean of its count and of the square, which are 0 otherwise."""
        mean, square = sums[1:] / np.maximum(sums[0], LEAST)
        variance = np.maximum(square - mean**2, 1e-9)
        below = mean - _UNBOUNDED * np.sqrt(variance)
        return cls(below if lowest is None else np.full(mean.size, lowest), mean, variance)

    def above(self, counts: Floats) -> Floats:
        """The probability that each query (by row) has more than each count (by column)."""
        root, spread = self._roots
        roots = np.sqrt(np.maximum(counts - self.lowest[:, None], 0.0))
        tails: Floats = normal_tail((roots - root[:, None]) / spread[:, None])
        return np.where(counts > self.lowest[:, None], tails, 1.0)

    def quantiles(self, scores: Floats) -> Floats:
        """The count of each query (by row) that corresponds to each standard normal number (by column)."""
        root, spread = self._roots
        counts: Floats = self.lowest[:, None] + np.maximum(root[:, None] + spread[:, None] * scores, 0.0) ** 2
        return counts

    def between(self, nodes: Floats, places: Floats) -> NoisyCounts:
        """The noisy counts between these: at some places, if these are at the nodes."""
        over = np.exp(np.interp(places, nodes, np.log(self._over)))
        variances = np.exp(np.interp(places, nodes, np.log(self.variances)))
        lowest = np.interp(places, nodes, self.lowest)
        return NoisyCounts(lowest, lowest + over, variances)

    @cached_property
    def _over(self) -> Floats:
        return np.maximum(self.means - self.lowest, 1e-9)

    @cached_property
    def _roots(self) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of the normal number whose square has the same mean and variance."""
        part = np.maximum(self._over**2 - self.variances / 2, 0.0)
        spread = self.variances / 2 / (self._over + np.sqrt(part))  # the difference of the two, without cancellation
        return part**0.25, np.sqrt(np.maximum(spread, LEAST))


@dataclass(frozen=True, eq=False)
class Mixed:
    """The noisy counts of queries with one listed record, and of those with several."""

    one: NoisyCounts
    several: NoisyCounts
    alone: Floats
    """The probability that a listed query has one listed record."""

    def above(self, counts: Floats) -> Floats:
        """The probability that each query (by row) has more than each count (by column)."""
        several, part = self.several.above(counts), self.alone[:, None]
        several *= 1 - part
        several += part * self.one.above(counts)
        return several

    def quantiles(self, scores: Floats) -> Floats:
        """Counts of each query (by row): those that correspond to standard normal numbers, in both cases."""
        return np.hstack([self.one.quantiles(scores), self.several.quantiles(scores)])

    def between(self, nodes: Floats, places: Floats) -> Mixed:
        """The noisy counts between these: at some places, if these are at the nodes."""
        alone = np.interp(places, nodes, self.alone)
        return Mixed(self.one.between(nodes, places), self.several.between(nodes, places), alone)


@dataclass(frozen=True, eq=False)
class Contributions:
    """What records contribute to the noisy counts of their queries: nothing if they are not listed."""

    likely: Floats
    """The probability that each record is listed."""
    first: Floats
    """The mean contribution."""
    second: Floats
    """The mean of its square."""
    lowest: float | None = None
    """A number that the noisy count of a listed record exceeds."""

    def only(self, records: Records) -> Contributions:
        """The contributions of those of these records that can be listed."""
        likely, first, second = (records.if_listable(values) for values in (self.likely, self.first, self.second))
        return Contributions(likely, first, second, self.lowest)

    def given_listed(self, starts: Integers, cases: Floats | None = None) -> Mixed:
        """Each query's noisy count, if any of its records is listed.

        `starts` has the first record of every query. With the probabilities of several `cases`, there is a group of records
        for each case of each query, and the result is that over all cases of the query.
        """
        unlisted = 1 - np.minimum(self.likely, 1 - 1e-15)
        missing = np.add.reduceat(log_missing(self.likely), starts)
        none, any_ = np.exp(missing), -np.expm1(missing)
        alone = [none * np.add.reduceat(values / unlisted, starts) for values in (self.likely, self.first, self.second)]
        sums = np.add.reduceat(self.first, starts)
        squares = np.add.reduceat(self.second - self.first**2, starts) + sums**2
        one, all_ = (np.stack([_over(cases, value) for value in values]) for values in (alone, (any_, sums, squares)))
        several = np.where(all_[0] - one[0] > _RARELY * all_[0], all_ - one, one)
        floor = self.lowest
        parts = NoisyCounts.of(one, floor), NoisyCounts.of(several, None if floor is None else 2 * floor)
        return Mixed(*parts, np.clip(one[0] / np.maximum(all_[0], LEAST), 0.0, 1.0))


def _over(cases: Floats | None, values: Floats) -> Floats:
    return values if cases is None else values.reshape(-1, cases.size) @ cases


def noisy_counts(outline: Outline, contributions: Callable[[Floats], Contributions], queries: Integers) -> Mixed:
    """The noisy counts that rank some queries, given that they are listed."""
    shares, urls = outline.query_shares[queries], outline.possible_urls
    if urls is None:
        records = outline.records(queries, TYPICAL)
        return contributions(records.shares).only(records).given_listed(np.searchsorted(records.query_of, queries))
    nodes = np.geomspace(max(float(shares.min()), LEAST), float(shares.max()), _NODES)
    starts = (np.arange(_NODES)[:, None] * urls.shares.size + urls.starts).ravel()
    of_nodes = contributions(np.outer(nodes, urls.shares).ravel()).given_listed(starts, urls.probabilities)
    return of_nodes.between(np.log(nodes), np.log(np.maximum(shares, LEAST)))


def by_discovery(shares: Floats, users: int, of_count: Floats, noise: float) -> Contributions:
    """The contributions of discovery's noisy counts; the noise has this variance.

    The probability that a noisy count exceeds the threshold by more than k is that of being listed with k users fewer. The
    sum of these probabilities is the mean excess.
    """
    counts = np.arange(of_count.size)
    excess = np.cumsum(of_count)
    squares = 2 * np.cumsum(excess) - excess
    above = counts[-1] - float(excess[-1])  # the threshold, from a record that is certainly listed
    surplus = counts - above
    missing = np.stack([1 - of_count, surplus - excess, surplus**2 + noise - squares], axis=1)
    lost = expected_values(shares, users, missing)
    mean, likely = users * shares - above, np.clip(1 - lost[:, 0], LEAST, 1.0)
    over = np.maximum(mean - lost[:, 1], 0.0)
    square = np.maximum(mean**2 + users * shares * (1 - shares) + noise - lost[:, 2], over**2 / likely)
    return Contributions(likely, above * likely + over, above**2 * likely + 2 * above * over + square, above)


def by_calibration(shares: Floats, users: int, discovery: int, of_count: Floats, noise: float) -> Contributions:
    """The contributions of calibration's noisy counts to queries that discovery lists."""
    likely, mean = listing_probabilities(shares, discovery, of_count), users * shares
    return Contributions(likely, likely * mean, likely * (mean**2 + mean * (1 - shares) + noise))
