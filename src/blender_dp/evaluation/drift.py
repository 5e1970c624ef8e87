"""Rounds of a population whose shares change from one round to the next: for experiments with trends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from blender_dp.evaluation.crowd import Searched
from blender_dp.evaluation.draws import normal_pairs
from blender_dp.evaluation.experiment import make_listing
from blender_dp.evaluation.groups import Groups, Listed
from blender_dp.evaluation.population import Population
from blender_dp.pipeline.collection import Collection
from blender_dp.release import Release
from blender_dp.sampling import Entropy
from blender_dp.sampling.discrete import integers_below
from blender_dp.stages import Floats, simulate

_COPIES = 1000  # of every user, so that small changes of a share are possible


@dataclass(frozen=True, eq=False)
class Round:
    """A release, and the true shares of the population that its users were drawn from."""

    release: Release
    shares: dict[str, float]
    """By query."""


def head_of(population: Population, queries: int) -> Population:
    """The most popular queries; everyone else has no record. A list never has the rest, and rounds are faster without it."""
    smallest = population.top_queries[min(queries, population.top_queries.size) - 1]
    popular = np.flatnonzero(population.query_counts[population.query_of] >= smallest)
    numbers = np.unique(population.query_of[popular], return_inverse=True)[1]
    names = population.names
    counts = population.counts[popular]
    return Population(population.users, numbers, counts, lambda records: names(popular[records]), population.levels)


def drift(queries: int, rounds: int, step: float, seed: int) -> list[Floats]:
    """For every round, the factor of each query's share: a random walk of its logarithm, with this standard deviation."""
    entropy = Entropy.seeded(f"drift {seed}")
    steps = [np.zeros(queries), *(step * normal_pairs(queries, entropy)[0] - step**2 / 2 for _ in range(rounds - 1))]
    return list(np.exp(np.cumsum(steps, axis=0)))


def collect_rounds(
    collection: Collection,
    population: Population,
    factors: Sequence[Floats],
    *,
    users: int,
    opt_in: float,
    seed: int,
    reuse_lists: bool = False,
) -> Iterator[Round]:
    """Collect once per round, each time from new users; `factors` has one factor per query of the population.

    With `reuse_lists`, each list is the next round's public candidates, as in a live campaign.
    """
    listed: Listed | None = None
    for number, factor in enumerate(factors):
        now = _changed(population, factor)
        people = _drawn(now, users, Entropy.seeded(f"resized {seed * 1000 + number}"))
        groups = Groups.of(people, opt_in, float(collection.parameters.f_o), f"{seed} {number}")
        entropy = Entropy.seeded(f"rounds {seed} {number}")
        if reuse_lists and listed:
            collection = Collection(replace(collection.parameters, candidates=listed.head_list))
        listing, listed = make_listing(collection, groups, entropy, listed if reuse_lists else None)
        reports = simulate(groups.clients_on(listed), collection.channel(listing.head_list, listing.design), entropy)
        release = collection.make_release(listing, reports, groups.sizes.clients, seeded=True)
        yield Round(release, _shares(now))


def searches(population: Population, factor: Floats, *, users: int, seed: int) -> list[Searched]:
    """One search for each of so many users, in random order, after every query's share has changed by its factor."""
    now, entropy = _changed(population, factor), Entropy.seeded(f"searches {seed}")
    records = now.record_of(integers_below(now.users, users, entropy))
    held, numbers = np.unique(records, return_inverse=True)
    named: list[Searched] = [(None, None)] * int(held[0] < 0)
    named += now.names(held[held >= 0])
    return [named[number] for number in numbers]


def _changed(population: Population, factor: Floats) -> Population:
    counts = np.round(population.counts * factor[population.query_of] * _COPIES).astype(np.int64)
    users = max(population.users * _COPIES, int(counts.sum()))
    return Population(users, population.query_of, counts, population.names, population.levels)


def _drawn(population: Population, users: int, entropy: Entropy) -> Population:
    """So many random users of a population. Records that nobody has any more keep their numbers."""
    records = population.record_of(integers_below(population.users, users, entropy))
    return replace(population, users=users, counts=np.bincount(records[records >= 0], minlength=population.counts.size))


def _shares(population: Population) -> dict[str, float]:
    first = np.flatnonzero(np.diff(population.query_of, prepend=-1))
    shares = population.query_counts / population.users
    return dict(zip((query for query, _ in population.names(first)), shares.tolist(), strict=True))
