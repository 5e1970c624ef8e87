"""What a plan knows about the users: how many there are, and the share of every query and record.

A shape has a million queries, of which a list can only contain those at the top. So the records of a query are made only
when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from blender_dp.evaluation.population import Population
from blender_dp.logs.synthetic import Shape, url_cases, url_shares
from blender_dp.sampling import Entropy
from blender_dp.stages import Flags, Floats, Integers

Number = TypeVar("Number", np.float64, np.int64)

TYPICAL = "0"
"""The seed of the URLs of shapes where one draw of them is enough."""

_NOTHING = np.array([1e-15])
"""The shares of a population without any known query: one query that practically nobody has."""


@dataclass(frozen=True, eq=False)
class Records:
    """The records of some queries: the number of each one's query, never decreasing, and its share."""

    query_of: Integers
    shares: Floats
    is_listable: Flags | None = None
    """False for records that stand for many unknown ones, each of which is too rare; None if there are none of these."""

    def if_listable(self, values: NDArray[Number]) -> NDArray[Number]:
        """These values of the records, or 0 where a record cannot be listed."""
        return values if self.is_listable is None else np.where(self.is_listable, values, values.dtype.type(0))

    def only(self, these: Flags) -> Records:
        """Some of the records."""
        is_listable = None if self.is_listable is None else self.is_listable[these]
        return Records(self.query_of[these], self.shares[these], is_listable)


@dataclass(frozen=True, eq=False)
class PossibleUrls:
    """Which URLs a query could have, the same for every query: several cases."""

    probabilities: Floats
    starts: Integers
    """Of each case, in `shares`."""
    shares: Floats
    """Of each URL within the query."""


@dataclass(frozen=True, eq=False)
class Outline:
    """The users, and the shares of their queries, most popular first; `records` gives some queries' records."""

    name: str
    users: int
    query_shares: Floats
    records: Callable[[Integers, str], Records]
    """From the numbers of some queries, in ascending order, and a seed: shapes leave open which URLs a query has."""
    levels: int = 2
    possible_urls: PossibleUrls | None = None
    """None if it is known which URLs each query has, so that `records` does not depend on the seed."""
    never_listed: str = ""
    """What no plan lists, because nothing says how many of more users would have it."""

    @property
    def is_empty(self) -> bool:
        """Whether no query is known that could be listed."""
        return self.query_shares is _NOTHING

    @classmethod
    def of_shape(cls, name: str, shape: Shape, levels: int = 2) -> Outline:
        """The outline of a synthetic population; with one level, its queries have no URLs."""
        if levels == 1:
            return cls(name, shape.users, shape.query_shares, lambda q, _: Records(q, shape.query_shares[q]), levels)

        def records(queries: Integers, seed: str) -> Records:
            counts, shares = _typical_urls(queries.size) if seed == TYPICAL else _urls(queries.size, seed)
            query_of = np.repeat(queries, counts)
            return Records(query_of, shares * shape.query_shares[query_of])

        return cls(name, shape.users, shape.query_shares, records, possible_urls=_possible_urls())

    @classmethod
    def of_population(cls, name: str, population: Population, never_listed: str = "") -> Outline:
        """The outline of counted users: those of a log or a release.

        A query or URL that only one user has is not listed: a sample of users would have it several times.
        """
        order = np.argsort(-population.query_counts, kind="stable")
        order = order[population.query_counts[order] > 0]
        rank = np.zeros(population.query_counts.size, np.int64)
        rank[order] = np.arange(order.size)
        held = np.flatnonzero(population.counts)
        held = held[np.argsort(rank[population.query_of[held]], kind="stable")]
        records = Records(rank[population.query_of[held]], population.shares[held])
        is_lone, lone_queries = population.counts[held] == 1, int(np.count_nonzero(population.query_counts[order] == 1))
        query_shares = population.query_counts[order][: order.size - lone_queries] / population.users
        if is_lone.any():
            numbers = ((lone_queries, "queries"), (int(np.count_nonzero(is_lone)) - lone_queries, "URLs"))
            what = " and ".join(f"{number:,} {name}" for number, name in numbers if number)
            never_listed = never_listed or f"The {what} that only one of them has"
            records = _merged(records, is_lone, query_shares.size)
        if not query_shares.size:
            return cls(name, population.users, _NOTHING, _no_records, population.levels, never_listed=never_listed)
        return cls(name, population.users, query_shares, _some_of(records), population.levels, never_listed=never_listed)


def _merged(records: Records, is_lone: Flags, queries: int) -> Records:
    """The records of the first queries; a query's records with one user each become a single one, which is not listable."""
    kept, merged = ~is_lone, is_lone & (records.query_of < queries)
    together = np.bincount(records.query_of[merged], records.shares[merged], queries).astype(np.float64)
    owners = np.flatnonzero(together)
    query_of = np.append(records.query_of[kept], owners)
    order = np.argsort(query_of, kind="stable")
    shares = np.append(records.shares[kept], together[owners])
    is_listable = np.arange(query_of.size) < query_of.size - owners.size
    return Records(query_of[order], shares[order], is_listable[order])


def _some_of(records: Records) -> Callable[[Integers, str], Records]:
    def some(queries: Integers, _: str) -> Records:
        return records.only(np.isin(records.query_of, queries))

    return some


def _no_records(queries: Integers, _: str) -> Records:
    return Records(queries, _NOTHING[queries])


def _urls(queries: int, seed: str) -> tuple[Integers, Floats]:
    """The number of URLs of so many queries, and their shares."""
    return url_shares(queries, Entropy.seeded(f"plan {seed}"))


@lru_cache(maxsize=1)
def _possible_urls() -> PossibleUrls:
    probabilities, counts, shares = url_cases()
    return PossibleUrls(probabilities, np.cumsum(counts) - counts, shares)


@lru_cache(maxsize=16)
def _typical_urls(queries: int) -> tuple[Integers, Floats]:
    counts, shares = _urls(queries, TYPICAL)
    for cached in (counts, shares):
        cached.setflags(write=False)
    return counts, shares
