"""Draw the users of a million rare queries, but only of those queries that could be listed or are very popular.

A nearly flat shape has a million queries, and each of them is listed with a small probability. So it is drawn first which
queries could be listed or have very many users, and then how many users each of them has, given that. Nothing is drawn for
the others. The counts have the same distribution as if all were drawn; queries whose shares are nearly equal count as equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

from blender_dp.evaluation.draws import binomial, poisson_counts
from blender_dp.logs.synthetic import uniform
from blender_dp.planning.calibrated_reach import Reach
from blender_dp.planning.listing import LEAST
from blender_dp.release.manifest import Sizes
from blender_dp.sampling import Entropy
from blender_dp.stages import Flags, Floats, Integers

_SPLITS = np.linspace(-8.0, 8.0, 33)  # of a total between two groups: standard deviations from the expected split
_PROBES = 8  # shares for which the cost of a split is computed
_WIDTH = 0.02  # the logarithms of shares that count as equal differ by at most this
_REACH, _MORE = 9.0, 20.0  # practically no count differs from its mean by so many standard deviations and this number
_FREQUENT = 0.2  # hits per query, from which a number for every query is faster
_FEW = 1000  # totals below this can have a table each


@dataclass(frozen=True, eq=False)
class Tail:
    """Queries with small shares, and which of them matter."""

    first: int
    """The number of the first of these queries."""
    shares: Floats
    """In descending order."""
    sizes: Sizes
    listable: Floats
    """The probability that a query could be listed, by its number of discovery users; the last value holds for more."""
    total: float
    """A query that this many users have could be among the most popular ones."""
    reach: Reach | None = None
    """If calibration decides which queries are looked at, instead of discovery."""

    @property
    def estimated(self) -> float:
        """How many queries are expected to be drawn, estimated from a few of them."""
        return sum(group.estimated for group in self._all_groups)

    @property
    def expected(self) -> float:
        """How many queries are expected to be drawn."""
        return sum(group.expected for group in self._all_groups)

    def drawn(self, entropy: Entropy) -> tuple[Integers, Flags, Integers]:
        """The numbers of all queries that matter, which of them could be listed, and a row of their users for each group."""
        discovery, others = self._groups
        looked_at = np.stack([group.looked_at(entropy) for group in self._all_groups])
        chosen = np.flatnonzero(looked_at.any(axis=0))
        looked_at = looked_at[:, chosen]
        found = discovery.counts(chosen, looked_at[0], entropy)
        rest = others.counts(chosen, looked_at[1], entropy)
        calibration = _parts(rest, self.sizes.calibration / others.users, entropy)
        clients = rest - calibration
        decided, likely = looked_at[0], at(self.listable, found)
        if self._calibrated:
            decided = looked_at[2]
            calibration = np.where(decided, self._calibrated.counts(chosen, decided, entropy), calibration)
        else:
            likely = likely / np.maximum(at(discovery.weights, found), LEAST)
        could_be_listed = decided & (uniform(chosen.size, entropy) < likely)
        return self.first + chosen, could_be_listed, np.stack([found, calibration, clients])

    @property
    def _all_groups(self) -> tuple[_Group, ...]:
        return (*self._groups, self._calibrated) if self._calibrated else self._groups

    @cached_property
    def _calibrated(self) -> _Group | None:
        """The calibration users, if they decide which queries could be listed."""
        return _Group(self.sizes.calibration, self._steps, self.reach.weights) if self.reach else None

    @cached_property
    def _groups(self) -> tuple[_Group, _Group]:
        """The discovery users and all others. No query has the total unless one of the two groups looks at it."""
        sizes, total = self.sizes, math.ceil(self.total)
        part = sizes.discovery / (sizes.discovery + sizes.calibration + sizes.clients)
        splits = np.rint(total * part + _SPLITS * math.sqrt(total * part * (1 - part)))
        candidates = {0, *splits[(splits > 0) & (splits < total)].astype(np.int64).tolist(), total}
        return min(map(self._split, candidates), key=lambda groups: sum(group.estimated for group in groups))

    def _split(self, of_discovery: int) -> tuple[_Group, _Group]:
        """A sum reaches the total only if the discovery users reach their part of it, or the others exceed the rest."""
        total = math.ceil(self.total)
        weights = np.where(np.arange(max(of_discovery + 1, self.listable.size)) >= of_discovery, 1.0, 0.0)
        if not self.reach:
            weights = np.maximum(weights, at(self.listable, np.arange(weights.size)))
        others = np.append(np.zeros(total - of_discovery + 1), 1.0)
        sizes = self.sizes
        return (
            _Group(sizes.discovery, self._steps, weights),
            _Group(sizes.calibration + sizes.clients, self._steps, others),
        )

    @cached_property
    def _steps(self) -> _Steps:
        return _Steps.of(self.shares)


@dataclass(frozen=True, eq=False)
class _Steps:
    """Runs of queries with nearly equal shares: where each run starts, how many queries it has, and their mean share."""

    starts: Integers
    sizes: Integers
    shares: Floats

    @classmethod
    def of(cls, shares: Floats) -> _Steps:
        starts = np.flatnonzero(np.diff(np.floor(np.log(shares) / _WIDTH), prepend=np.inf))
        sizes = np.diff(starts, append=shares.size)
        return cls(starts, sizes, np.add.reduceat(shares, starts) / sizes)


@dataclass(frozen=True, eq=False)
class _Group:
    """The users of some groups: how many of them have each query, and which queries are looked at because of that."""

    users: int
    steps: _Steps
    weights: Floats
    """The probability that a query is looked at, by its number of users; the last value holds for more users."""

    @property
    def estimated(self) -> float:
        """How many queries are looked at, estimated from a few of them."""
        steps = self.steps
        some = np.unique(np.linspace(0, steps.sizes.size - 1, _PROBES).astype(np.int64))
        each = _Tables.of(self.users * steps.shares[some], self.weights).looked_at
        return float(steps.sizes @ np.interp(np.arange(steps.sizes.size), some, each))

    @property
    def expected(self) -> float:
        """How many queries are expected to be looked at."""
        return float(self.steps.sizes @ self._probable)

    def looked_at(self, entropy: Entropy) -> Flags:
        """Draw which queries are looked at: those that a Poisson process hits, which draws a number for every hit only."""
        rate, queries = float(self._rates[-1]), int(self.steps.sizes.sum())
        if rate > _FREQUENT * queries:
            return np.asarray(uniform(queries, entropy) < np.repeat(self._probable, self.steps.sizes))
        points = int(poisson_counts(np.array([rate]), entropy)[0])
        hit = np.searchsorted(self._rates, np.sort(rate * uniform(points, entropy)))  # much faster if they are sorted
        return np.bincount(hit, minlength=queries) > 0

    def counts(self, queries: Integers, looked_at: Flags, entropy: Entropy) -> Integers:
        """How many users have each of these queries, given which of them are looked at."""
        run = np.searchsorted(self.steps.starts, queries, side="right") - 1
        return self._tables.drawn(run, looked_at, uniform(queries.size, entropy))

    @cached_property
    def _tables(self) -> _Tables:
        return _Tables.of(self.users * self.steps.shares, self.weights)

    @cached_property
    def _probable(self) -> Floats:
        return np.minimum(self._tables.looked_at, 1 - 1e-12)

    @cached_property
    def _rates(self) -> Floats:
        return np.cumsum(np.repeat(-np.log1p(-self._probable), self.steps.sizes))


@dataclass(frozen=True, eq=False)
class _Tables:
    """Poisson distributions, one after the other, each for the counts around its mean."""

    starts: Integers
    """The first place of each distribution."""
    counts: Integers
    seen: Floats
    """The probability of every count, and of being looked at with it."""
    unseen: Floats
    """The probability of every count, and of not being looked at with it."""

    @classmethod
    def of(cls, means: Floats, weights: Floats) -> _Tables:
        """The distributions with these means, if counts are looked at with these probabilities."""
        reach = _REACH * np.sqrt(means) + _MORE
        lowest = np.maximum(means - reach, 0).astype(np.int64)
        sizes = (means + reach).astype(np.int64) + 1 - lowest
        starts = np.cumsum(sizes) - sizes
        counts = np.arange(int(sizes.sum())) + np.repeat(lowest - starts, sizes)
        logarithms = counts * np.repeat(np.log(means), sizes) - np.repeat(means, sizes)
        probable = np.exp(logarithms - _log_factorials(int(counts.max(initial=0)))[counts])
        seen = probable * at(weights, counts)
        return cls(starts, counts, seen, probable - seen)

    @cached_property
    def looked_at(self) -> Floats:
        """The probability of being looked at, for each distribution."""
        return np.add.reduceat(self.seen, self.starts)

    def drawn(self, which: Integers, looked_at: Flags, words: Floats) -> Integers:
        """A count from each of these distributions, given whether it is looked at; `words` are uniform numbers."""
        place = np.empty(which.size, np.int64)
        for these, sums in zip((looked_at, ~looked_at), self._sums, strict=True):
            place[these] = np.searchsorted(sums, (which + words)[these])
        found: Integers = self.counts[place]
        return found

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """The running sums of the probabilities, if those of each distribution are scaled so that their sum is 1."""
        seen, unseen = (self._running(values) for values in (self.seen, self.unseen))
        return seen, unseen

    def _running(self, values: Floats) -> Floats:
        totals = np.maximum(np.add.reduceat(values, self.starts), LEAST)
        sizes = np.diff(self.starts, append=values.size)
        scaled = np.cumsum(values / np.repeat(totals, sizes))
        ends = np.arange(1, sizes.size + 1)
        scaled += np.repeat(ends - scaled[self.starts + sizes - 1], sizes)  # free of the rounding errors of other ones
        return scaled


def _parts(totals: Integers, share: float, entropy: Entropy) -> Integers:
    """Binomial parts of the totals. A table for each distinct total is faster than one for each query, if there are few."""
    distinct = np.flatnonzero(np.bincount(totals)) if totals.max(initial=0) < _FEW else np.empty(0, np.int64)
    if distinct.size * distinct.size > totals.size or not distinct.size:
        return binomial(totals, np.full(totals.size, share), entropy)
    order, words, parts = (
        np.argsort(totals.astype(np.int16), kind="stable"),
        uniform(totals.size, entropy),
        np.empty_like(totals),
    )
    edges = np.searchsorted(totals[order], np.append(distinct, _FEW))
    for total, (start, end) in zip(distinct.tolist(), pairwise(edges.tolist()), strict=True):
        ways = _log_factorials(total)[: total + 1]
        counts = np.arange(total + 1)
        masses = np.exp(ways[-1] - ways - ways[::-1] + counts * math.log(share) + counts[::-1] * math.log1p(-share))
        parts[order[start:end]] = np.searchsorted(np.cumsum(masses[:-1]), words[order[start:end]])
    return parts


def at(values: Floats, counts: Integers) -> Floats:
    """The values for these counts; the last one holds for all larger counts."""
    found: Floats = values[np.minimum(counts, values.size - 1)]
    return found


def _log_factorials(largest: int) -> Floats:
    """The logarithms of 0!, 1!, 2!, … up to at least this number."""
    return _sums_of_logarithms(largest.bit_length())


@cache
def _sums_of_logarithms(bits: int) -> Floats:
    return np.append(0.0, np.cumsum(np.log(np.arange(1.0, 1 << bits))))
