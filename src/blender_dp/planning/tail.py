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

from blender_dp.evaluation.draws import binomial
from blender_dp.logs.synthetic import uniform
from blender_dp.release.manifest import Sizes
from blender_dp.sampling import Entropy
from blender_dp.stages import Flags, Floats, Integers

_SPLITS = np.linspace(0.0, 1.0, 21)  # of a total into discovery users and others, of which the cheapest is used
_PROBES = 8  # shares for which the cost of a split is computed
_WIDTH = 0.005  # the logarithms of shares that count as equal differ by at most this
_REACH, _MORE = 9.0, 20.0  # practically no count differs from its mean by so many standard deviations and this number
_FREQUENT = 0.2  # hits per query, from which a number for every query is faster
_FEW = 1000  # totals below this can have a table each
_POINTS = 10**12  # a binomial number with so many trials is practically a Poisson number


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

    @property
    def expected(self) -> float:
        """How many queries are expected to be drawn."""
        return sum(group.expected for group in self._groups)

    def drawn(self, entropy: Entropy) -> tuple[Integers, Flags, Integers]:
        """The numbers of all queries that matter, which of them could be listed, and a row of their users for each group."""
        discovery, others = self._groups
        looked_at = np.stack([group.looked_at(entropy) for group in self._groups])
        chosen = np.flatnonzero(looked_at.any(axis=0))
        found, rest = (
            group.counts(chosen, of_group[chosen], entropy) for group, of_group in zip(self._groups, looked_at, strict=True)
        )
        likely = at(self.listable, found) / np.maximum(at(discovery.weights, found), 1e-300)
        could_be_listed = looked_at[0, chosen] & (uniform(chosen.size, entropy) < likely)
        calibration = _parts(rest, self.sizes.calibration / others.users, entropy)
        return self.first + chosen, could_be_listed, np.stack([found, calibration, rest - calibration])

    @cached_property
    def _groups(self) -> tuple[_Group, _Group]:
        """The discovery users and all others. No query has the total unless one of the two groups looks at it."""
        return min(map(self._split, _SPLITS.tolist()), key=lambda groups: sum(group.estimated for group in groups))

    def _split(self, part: float) -> tuple[_Group, _Group]:
        """A sum reaches the total only if this part of it reaches its part, or the others exceed the rest."""
        total = math.ceil(self.total)
        of_discovery = math.ceil(part * total)
        weights = np.where(np.arange(max(of_discovery + 1, self.listable.size)) >= of_discovery, 1.0, 0.0)
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
        each = np.interp(np.arange(steps.sizes.size), some, [self._table(one)[1][-1] for one in some.tolist()])
        return float(steps.sizes @ each)

    @property
    def expected(self) -> float:
        """How many queries are expected to be looked at."""
        return float(self.steps.sizes @ self._probable)

    def looked_at(self, entropy: Entropy) -> Flags:
        """Draw which queries are looked at: those that a Poisson process hits, which draws a number for every hit only."""
        rate, queries = float(self._rates[-1]), int(self.steps.sizes.sum())
        if rate > _FREQUENT * queries:
            return np.asarray(uniform(queries, entropy) < np.repeat(self._probable, self.steps.sizes))
        points = int(binomial(np.array([_POINTS]), np.array([rate / _POINTS]), entropy)[0])
        hit = np.searchsorted(self._rates, np.sort(rate * uniform(points, entropy)))  # much faster if they are sorted
        return np.bincount(hit, minlength=queries) > 0

    def counts(self, queries: Integers, looked_at: Flags, entropy: Entropy) -> Integers:
        """How many users have each of these queries, given which of them are looked at."""
        run = np.searchsorted(self.steps.starts, queries, side="right") - 1
        place = run + uniform(queries.size, entropy)
        lowest, starts, seen, unseen = self._joined
        counts: Integers = np.where(looked_at, np.searchsorted(seen, place), np.searchsorted(unseen, place))
        return counts + (lowest - starts)[run]

    @cached_property
    def _joined(self) -> tuple[Integers, Integers, Floats, Floats]:
        """All tables in one: the lowest counts of the runs, where their tables start, and the running sums.

        The sums of a run are scaled to 1, and its number is added.
        """
        lowest, *tables = zip(*self._tables, strict=True)
        lengths = np.array([table.size for table in tables[0]])
        joined = (
            np.concatenate([run + table / max(float(table[-1]), 1e-300) for run, table in enumerate(some)])
            for some in tables
        )
        return np.array(lowest), np.cumsum(lengths) - lengths, *joined

    @cached_property
    def _tables(self) -> list[tuple[int, Floats, Floats]]:
        return [self._table(step) for step in range(self.steps.sizes.size)]

    def _table(self, step: int) -> tuple[int, Floats, Floats]:
        """For one run, the lowest count and the running sums of the probabilities: with being looked at, and without."""
        mean = self.users * float(self.steps.shares[step])
        reach = _REACH * math.sqrt(mean) + _MORE
        counts = np.arange(max(int(mean - reach), 0), int(mean + reach) + 1)
        logarithms = counts * math.log(mean) - mean - _log_factorials(int(counts[-1]))[counts]
        probable, weights = np.exp(logarithms), at(self.weights, counts)
        return int(counts[0]), np.cumsum(probable * weights), np.cumsum(probable * (1 - weights))

    @cached_property
    def _probable(self) -> Floats:
        return np.minimum([table[1][-1] for table in self._tables], 1 - 1e-12)

    @cached_property
    def _rates(self) -> Floats:
        return np.cumsum(np.repeat(-np.log1p(-self._probable), self.steps.sizes))


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
