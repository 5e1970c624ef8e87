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


_ALMOST_NONE = 1e-4


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


def patterns(rounds: int, when: Floats) -> dict[str, Floats]:
    """How shares may move: by pattern, the factor in every round (row) of each query (column), sometimes at its `when`."""
    now, half = np.arange(rounds)[:, None], rounds // 2
    factors = {
        "never changes": 1.0,
        "rises steadily to double": 1 + now / (rounds - 1),
        "falls steadily to 0.4": 1 - 0.6 * now / (rounds - 1),
        "jumps to 2.5": np.where(now < half, 1, 2.5),
        "season of 12 rounds, ± 50 %": 1 + 0.5 * np.sin(2 * np.pi * (now + when) / 12),
        "season of 4 rounds, ± 50 %": 1 + 0.5 * np.sin(2 * np.pi * (now + when) / 4),
        "appears half-way": np.where(now < half - 1, _ALMOST_NONE, 1),
        "vanishes half-way": np.where(now < half, 1, _ALMOST_NONE),
        "one round, + 50 %": np.where(now == when, 1.5, 1),
        "one round, × 2": np.where(now == when, 2, 1),
        "one round, × 3": np.where(now == when, 3, 1),
    }
    return {name: np.broadcast_to(np.asarray(some, float), (rounds, when.size)) for name, some in factors.items()}


def mixed(queries: int, rounds: int, seed: int) -> tuple[list[str], list[Floats]]:
    """Every query's pattern, and the factors of all shares by round. Half of the queries never change.

    What happens in one round does so in a random one between the first and the last.
    """
    entropy = Entropy.seeded(f"patterns {seed}")
    factors = patterns(rounds, (1 + integers_below(rounds - 2, queries, entropy)).astype(float))
    still, *moving = factors
    names = [still] * len(moving) + moving
    chosen = [names[number] for number in integers_below(len(names), queries, entropy)]
    return chosen, list(np.column_stack([factors[name][:, number] for number, name in enumerate(chosen)]))


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
