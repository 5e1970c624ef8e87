"""Draw the users of a million rare queries, but only of those queries whose users could matter.

A nearly flat shape has a million queries that could be listed; the ones that happen to have many discovery users are listed.
So it is drawn first which queries have many users, and then how many each of them has, given that these are many. Nothing
is drawn for the others. "Many" may be any number: the counts have the same distribution for all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from blender_dp.evaluation.draws import binomial, inverted
from blender_dp.logs.synthetic import uniform
from blender_dp.release.manifest import Sizes
from blender_dp.release.normal import normal_quantile, normal_tail
from blender_dp.sampling import Entropy
from blender_dp.stages import Flags, Floats, Integers

LARGE = 30.0  # expected counts from which the normal distribution is good enough
_SPLITS = np.linspace(0.0, 1.0, 21)  # of a total into discovery users and others, of which the cheapest is used
_STEPS, _PARTS = 50, 1000
_EXACT, _SAFETY = 64, 1.005  # the largest number whose probability is exact; others are approximated, and then increased
_CERTAIN = 500.0  # a count with this mean exceeds every such number
_POINTS = 10**12  # a binomial number with so many trials is practically a Poisson number


@dataclass(frozen=True, eq=False)
class Tail:
    """Queries with small shares, and the numbers of users from which they could matter."""

    first: int
    """The number of the first of these queries."""
    shares: Floats
    sizes: Sizes
    discovery: float
    """A query that this many discovery users have could be listed."""
    total: float
    """A query that this many users have could be among the most popular ones."""

    @property
    def expected(self) -> float:
        """How many queries are expected to be drawn."""
        return sum(field.expected for field in self._fields)

    def drawn(self, entropy: Entropy) -> tuple[Integers, Integers]:
        """The numbers of all queries that could matter, and of some others; and a row of their users for each group."""
        are_many = np.stack([field.many(entropy) for field in self._fields])
        chosen = np.flatnonzero(are_many.any(axis=0))
        found, rest = (
            field.counts(chosen, many[chosen], entropy) for field, many in zip(self._fields, are_many, strict=True)
        )
        calibration = binomial(rest, np.full(chosen.size, self.sizes.calibration / self._fields[1].users), entropy)
        return self.first + chosen, np.stack([found, calibration, rest - calibration])

    @cached_property
    def _fields(self) -> tuple[_Field, _Field]:
        """The discovery users and all others, each with a number so that no total is reached without one of the two."""
        sizes = self.sizes
        several = [
            (
                _Field(sizes.discovery, self.shares, min(self.discovery, split * self.total)),
                _Field(sizes.calibration + sizes.clients, self.shares, self.total - min(self.discovery, split * self.total)),
            )
            for split in _SPLITS
        ]
        return min(several, key=lambda fields: sum(field.expected for field in fields))


@dataclass(frozen=True, eq=False)
class _Field:
    """The users of some groups: how many of them have each query."""

    users: int
    shares: Floats
    least: float
    """So many are many."""

    @cached_property
    def probable(self) -> Floats:
        """The probability that many users have a query, or a little more."""
        first, sizes = _alike(self.shares.size)
        return np.repeat(np.clip(_reached(self.least, self.users * self.shares[first]), 1e-12, 1 - 1e-12), sizes)

    @property
    def expected(self) -> float:
        """How many queries are expected to have many users."""
        return reaching(self.least, self.users, self.shares)

    @cached_property
    def _rates(self) -> Floats:
        return np.cumsum(-np.log1p(-self.probable))

    def many(self, entropy: Entropy) -> Flags:
        """Draw which queries many users have: those that a Poisson process hits, which draws a number for every hit only."""
        rate = float(self._rates[-1])
        points = int(binomial(np.array([_POINTS]), np.array([rate / _POINTS]), entropy)[0])
        hit = np.searchsorted(self._rates, np.sort(rate * uniform(points, entropy)))  # much faster if they are sorted
        return np.bincount(hit, minlength=self.shares.size) > 0

    def counts(self, queries: Integers, are_many: Flags, entropy: Entropy) -> Integers:
        """How many users have each of these queries, given which of them many users have."""
        part, words = self.probable[queries], uniform(queries.size, entropy)
        return _quantiles(self.users, self.shares[queries], np.where(are_many, 1 - part * words, (1 - part) * words))


def level(shares: Floats, users: int, queries: float) -> float:
    """The largest number of users that at least this many of the queries are expected to have; 0 if there are fewer."""
    low, high = 0.0, users * float(shares.max()) + 1000 + 100 * float(np.sqrt(users * shares.max()))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if reaching(middle, users, shares) > queries else (low, middle)
    return low


def reaching(least: float, users: int, shares: Floats) -> float:
    """How many queries are expected to have at least so many users."""
    first, sizes = _alike(shares.size)
    return float(sizes @ _reached(least, users * shares[first]))


@cache
def _alike(queries: int) -> tuple[Integers, Integers]:
    """Runs of queries whose shares are nearly equal, if they are sorted: the first of each run, and its length."""
    first = np.unique(np.geomspace(1, queries, _PARTS).astype(np.int64)) - 1
    return first, np.diff(first, append=queries)


def _reached(least: float, means: Floats) -> Floats:
    """The probability that each Poisson count reaches a number: exact for small numbers, never less for large ones.

    Citation: Wilson and Hilferty (1931), for large numbers.
    """
    count = max(math.ceil(least), 0)
    if count > _EXACT:
        return np.minimum(_SAFETY * normal_tail(3 * np.sqrt(count) * (1 - 1 / (9 * count) - np.cbrt(means / count))), 1.0)
    small = np.minimum(means, _CERTAIN)  # its powers do not overflow
    masses = np.exp(-small) * np.ones((count, 1))
    masses[1:] *= np.cumprod(small / np.arange(1, max(count, 1))[:, None], axis=0)
    reached: Floats = np.maximum(1 - masses.sum(axis=0), 0.0)
    return reached


def _quantiles(users: int, shares: Floats, words: Floats) -> Integers:
    """The counts whose distribution function reaches these uniform numbers: binomial if small, normal if large."""
    expected = users * shares
    counts = np.empty(shares.size, np.int64)
    small = expected < LARGE
    counts[small] = inverted(np.full(np.count_nonzero(small), users), shares[small], words[small])
    mean, normals = expected[~small], normal_quantile(words[~small])
    counts[~small] = np.clip(np.rint(mean + np.sqrt(mean) * normals + (normals**2 - 1) / 6), 0, users)
    return counts
