"""What a plan knows about the users: how many there are, and the share of every query and record.

A shape has a million queries, of which a list can only contain those at the top. So the records of a query are made only
when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from blender_dp.evaluation.population import Population
from blender_dp.logs.synthetic import Shape, url_cases, url_shares
from blender_dp.sampling import Entropy
from blender_dp.stages import Floats, Integers

TYPICAL = "0"
"""The seed of the URLs of shapes where one draw of them is enough."""

_NOTHING = np.array([1e-15])
"""The shares of a population without any known query: one query that practically nobody has."""


@dataclass(frozen=True, eq=False)
class Records:
    """The records of some queries: the number of each one's query, never decreasing, and its share."""

    query_of: Integers
    shares: Floats


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
    singles: int = 0
    """How many of the last queries only one user has: this says nothing about their shares in a larger population."""
    whole: Outline | None = None
    """The outline with these queries, if they were left out."""

    def for_users(self, users: int) -> Outline:
        """The outline for so many users: of more users than were counted, without the queries that only one user has."""
        whole = self.whole or self
        if users <= whole.users or not whole.singles:
            return whole
        shares = whole.query_shares[: -whole.singles]
        without = replace(whole, query_shares=shares, singles=0, whole=whole)
        return without if shares.size else replace(without, query_shares=_NOTHING, records=_no_records)

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
    def of_population(cls, name: str, population: Population) -> Outline:
        """The outline of counted users: those of a log or a release."""
        order = np.argsort(-population.query_counts, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        ranks = rank[population.query_of]
        by_rank = np.argsort(ranks, kind="stable")
        query_of, shares = ranks[by_rank], population.shares[by_rank]

        def records(queries: Integers, _: str) -> Records:
            wanted = np.isin(query_of, queries)
            return Records(query_of[wanted], shares[wanted])

        counts = population.query_counts[order]
        query_shares, singles = counts / population.users, int(np.count_nonzero(counts == 1))
        if not order.size:
            return cls(name, population.users, _NOTHING, _no_records, population.levels)
        return cls(name, population.users, query_shares, records, population.levels, singles=singles)


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
