from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from scipy import stats

from blender_dp.evaluation.experiment import Outcome
from blender_dp.parameters import Parameters
from blender_dp.planning import setting as settings
from blender_dp.planning.planned_list import planned_list
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import simulated
from blender_dp.planning.sources import outline_of
from blender_dp.planning.tail import Tail
from blender_dp.release.manifest import Sizes
from blender_dp.sampling import Entropy
from tests.unit.planning.shapes import outline, zipf

SIZES = Sizes(discovery=200_000, calibration=50_000, clients=350_000)
REPEATS = 600


def flat(users: int = 3_000_000, **parameters) -> Setting:
    """Sixty thousand queries, the most popular one ten times as popular as the least."""
    values = {"epsilon": 4, "delta": "1e-7", "max_queries": 20, **parameters}
    return Setting(outline("flat", zipf(60_000, 0.2), 2, 1.0), users, 0.3, Parameters(**values))


STEEP = np.append(0.0, 0.02 * 1.6 ** np.arange(8))  # 0.02 for one user, 0.54 for eight or more


@pytest.mark.parametrize(
    ("expected", "listable", "total"),
    [
        (2.0, (np.arange(5) >= 4) * 1.0, 11.0),
        (2.0, STEEP, 10.0),
        (2.0, STEEP, 40.0),
        (60.0, (np.arange(79) >= 78) * 1.0, 210.0),
    ],
)
@pytest.mark.slow
def test_queries_that_matter_are_as_frequent_as_if_all_were_drawn(expected, listable, total):
    """Numbers of queries are binomial: beyond 4.9 standard deviations a false alarm has a probability below 1e-6."""
    queries, share = 5_000, expected / SIZES.discovery
    tail, entropy = Tail(100, np.full(queries, share), SIZES, listable, total), Entropy.seeded("tail")
    numbers, could_be_listed, counts = zip(*(tail.drawn(entropy) for _ in range(REPEATS)), strict=True)
    assert all((np.diff(one) > 0).all() and one.min() >= 100 and one.max() < 100 + queries for one in numbers)
    assert np.mean([one.size for one in numbers]) == pytest.approx(tail.expected, rel=0.1)  # some are expected twice
    listed, drawn, users = np.hstack(could_be_listed), np.hstack(counts), np.array([*astuple(SIZES)])
    grid = np.stack([one.ravel() for one in np.indices([int(n * share + 9 * np.sqrt(n * share) + 9) for n in users])])
    probable = np.prod([stats.binom.pmf(one, n, share) for one, n in zip(grid, users, strict=True)], axis=0)
    assert probable.sum() == pytest.approx(1, abs=1e-9)
    of_grid = listable[np.minimum(grid[0], listable.size - 1)]
    lowest = int(np.argmax(listable > 0))
    for exact, found in (
        (of_grid, listed),
        (of_grid * (grid[1] > users[1] * share), listed & (drawn[1] > users[1] * share)),
        (of_grid * (grid[2] < users[2] * share), listed & (drawn[2] < users[2] * share)),
        (of_grid * (grid[0] >= lowest + 1), listed & (drawn[0] >= lowest + 1)),
        (grid.sum(0) >= total, drawn.sum(0) >= total),
        ((grid.sum(0) >= total) * (1 - of_grid), (drawn.sum(0) >= total) & ~listed),
        (grid.sum(0) >= total + 2, drawn.sum(0) >= total + 2),
    ):
        mean = REPEATS * queries * float(probable @ exact)
        if mean > 1:
            assert 4.9 * np.sqrt(mean) < 0.05 * mean  # so many that an error of 5 % is detected
        assert abs(int(found.sum()) - mean) <= 4.9 * np.sqrt(mean) + 1


def test_nearly_equal_shares_count_as_equal():
    """The means of all counts are those of the shares; the standard error of a quotient is 0.2 %."""
    shares, everything = zipf(30_000, 0.3), np.ones(1)
    tail, entropy = Tail(0, shares, SIZES, everything, 1_000.0), Entropy.seeded("nearly equal")
    counts = sum(tail.drawn(entropy)[2] for _ in range(40))
    for part in np.array_split(np.arange(shares.size), 5):
        exact = 40 * shares[part].sum() * np.array([*astuple(SIZES)])
        assert (np.abs(counts[:, part].sum(1) - exact) <= 4.9 * np.sqrt(exact)).all()


@pytest.mark.slow
def test_no_group_has_more_users_than_its_size():
    """Nearly all queries are drawn, each for itself; together they could exceed the group."""
    equal, parameters = np.full(45_000, 1 / 45_000), Parameters(epsilon=4, delta="1e-9", max_queries=45_000)
    full = Setting(outline("flat", equal, 1, 1.0), 20_000_000, 0.5, parameters)
    assert full.tail.expected > 40_000
    for seed in range(4):
        drawn = planned_list(full, full.collection, "", Entropy.seeded(seed)).groups
        assert drawn.discovery.counts.sum() <= full.sizes.discovery
        assert drawn.calibration.counts.sum() <= full.sizes.calibration
        assert drawn.population.counts.sum() <= full.users


def test_few_queries_are_drawn():
    setting = flat()
    assert setting.head > 40_000
    numbers, could_be_listed, counts = setting.tail.drawn(Entropy.seeded(1))
    assert counts.shape == (3, numbers.size)
    assert could_be_listed.shape == numbers.shape
    assert 20 <= numbers.size < 6_000
    assert 0.5 * setting.tail.expected < numbers.size < 1.3 * setting.tail.expected  # some are expected twice


@pytest.mark.parametrize("shape", ["aol", "yandex", "zipf:1.1", "zipf:0.5"])
def test_usual_shapes_have_no_tail(shape):
    assert Setting(outline_of(shape), 1_000_000, 0.05, Parameters(epsilon=4, delta="1e-7")).tail is None


@pytest.mark.slow
def test_a_million_equally_popular_queries_have_one():
    setting = Setting(outline_of("zipf:0"), 400_000_000, 0.05, Parameters(epsilon=4, delta="1e-11"))
    assert setting.tail.shares.size == 1_000_000
    assert setting.tail.expected < 50_000
    people = planned_list(setting, setting.collection, "", Entropy.seeded(1)).groups.population
    assert people.top_queries[49] > 400 + 3.5 * 20  # the fiftieth of a million queries with 400 ± 20 users


def results(outcome: Outcome) -> list[float]:
    """The length of the list, the scores, and the opt-in users' estimate of everything else."""
    scores = [value for group in ("opt-in", "blended") for value in astuple(outcome.scores[group])]
    return [outcome.queries, *scores, outcome.result.opt_in.queries.share[-1]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"profile": "paper", "users": 400_000},
        {"max_queries": 300},
        {"epsilon": 10, "users": 400_000},
        {"users": 300_000},
        {"users": 900_000, "discovery": "laplace"},
        {"profile": "paper", "users": 3_000_000},
        {"profile": "paper", "users": 10_000_000, "epsilon": 1, "max_queries": 50},
        {"estimator": "average", "users": 30_000_000, "epsilon": 2, "max_queries": 100},
    ],
)
def test_the_results_are_those_of_drawing_every_query(parameters, monkeypatch):
    """Means of 16 collections each: beyond 6.5 standard errors, Student's t has a probability below 1e-6."""

    def measured() -> np.ndarray:
        return np.array([results(one) for one in simulated(flat(**parameters), 16, "measured").outcomes])

    assert flat(**parameters).tail
    assert bool(flat(**parameters).tail.reach) == (parameters.get("users", 0) >= 3_000_000)
    rare = measured()
    monkeypatch.setattr(settings, "_EACH", 10**6)
    assert flat(**parameters).tail is None
    every = measured()
    error = np.sqrt((rare.var(axis=0) + every.var(axis=0)) / 15)
    assert (np.abs(rare.mean(axis=0) - every.mean(axis=0)) <= 6.5 * error + 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters", [{"users": 500_000}, {"users": 1_200_000, "discovery": "laplace", "epsilon": 1, "delta": "1e-4"}]
)
def test_as_many_queries_are_listed_as_the_closed_form_says(parameters):
    """Their number is nearly Poisson: beyond 4.9 standard deviations a false alarm has a probability below 1e-6."""
    setting, listed = flat(max_queries=500, **parameters), []
    assert 30 < setting.listed.sum() < 400
    for seed in range(400):
        made = planned_list(setting, setting.collection, "", Entropy.seeded(f"listed {seed}"))
        listed.append(len(made.listed.head_list))
    exact = 400 * setting.listed.sum()
    assert 4.9 * np.sqrt(exact) < 0.05 * exact
    assert abs(sum(listed) - exact) <= 4.9 * np.sqrt(exact)


@pytest.mark.slow
@pytest.mark.parametrize(("users", "opt_in", "epsilon"), [(10_000_000, 0.5, 10), (10_000_000, 0.2, 10), (5_000_000, 0.5, 8)])
def test_the_list_can_be_filled_by_the_queries_that_are_drawn(users, opt_in, epsilon):
    """With little noise, nothing but the number of queries that have enough users makes up for a level that is too high."""
    parameters = Parameters(epsilon=epsilon, delta="1e-8", max_queries=50)
    tail = Setting(outline_of("zipf:0"), users, opt_in, parameters).tail
    counts = np.arange(tail.listable.size)
    assert (
        stats.poisson.pmf(counts[:, None], tail.sizes.discovery * tail.shares[:1]).T * tail.listable
    ).sum() * 1_000_000 > 50 + 4 * np.sqrt(50)


@pytest.mark.slow
@pytest.mark.parametrize(("users", "max_queries"), [(100_000, 1), (126_000, 10), (151_874, 50)])
def test_of_a_short_list_hardly_a_query_is_overlooked(users, max_queries):
    """The expected numbers of queries that are listed, but left out: too rare for the head, or with too few users."""
    equal, parameters = np.full(50_000, 1 / 50_000), Parameters(epsilon=4, delta="1e-7", max_queries=max_queries)
    short = Setting(outline("flat", equal, 1, 1.0), users, 0.5, parameters)
    counts = np.arange(short.of_count.size)
    of_each = stats.poisson.pmf(counts, short.sizes.discovery / 50_000) * short.of_count
    assert 0.2 < short.length.mean < 4
    assert (50_000 - short.head) * of_each.sum() < 0.006 * short.length.mean
    assert short.tail.listable[0] == 0
    assert (short.tail.listable[counts] >= short.of_count * (1 - 1e-9)).all()
