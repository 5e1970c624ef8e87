from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from blender_dp.parameters import Parameters
from blender_dp.planning import setting as settings
from blender_dp.planning.draws import groups
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import simulated
from blender_dp.planning.sources import outline_of
from blender_dp.planning.tail import Tail, _reached, level
from blender_dp.release.manifest import Sizes
from blender_dp.sampling import Entropy
from tests.unit.planning.shapes import outline, zipf

SIZES = Sizes(discovery=200_000, calibration=50_000, clients=350_000)
REPEATS = 600


def flat(users: int = 3_000_000, **parameters) -> Setting:
    """Sixty thousand queries, the most popular one ten times as popular as the least."""
    values = {"epsilon": 4, "delta": "1e-7", "max_queries": 20, **parameters}
    return Setting(outline("flat", zipf(60_000, 0.2), 2, 1.0), users, 0.3, Parameters(**values))


@pytest.mark.parametrize(("expected", "discovery", "total"), [(2.0, 4.0, 11.0), (2.0, 6.0, 10.0), (60.0, 78.0, 210.0)])
@pytest.mark.slow
def test_queries_with_many_users_are_as_frequent_as_if_all_were_drawn(expected, discovery, total):
    """Numbers of queries are binomial: beyond 4.9 standard deviations a false alarm has a probability below 1e-6."""
    queries, share = 5_000, expected / SIZES.discovery
    tail, entropy = Tail(100, np.full(queries, share), SIZES, discovery, total), Entropy.seeded("tail")
    numbers, counts = zip(*(tail.drawn(entropy) for _ in range(REPEATS)), strict=True)
    assert all((np.diff(one) > 0).all() and one.min() >= 100 and one.max() < 100 + queries for one in numbers)
    drawn, users = np.hstack(counts), np.array([SIZES.discovery, SIZES.calibration, SIZES.clients])
    grid = np.stack([one.ravel() for one in np.indices([int(n * share + 9 * np.sqrt(n * share) + 9) for n in users])])
    probable = np.prod([stats.binom.pmf(one, n, share) for one, n in zip(grid, users, strict=True)], axis=0)
    assert probable.sum() == pytest.approx(1, abs=1e-9)
    matters = lambda found: (found[0] >= discovery) | (found.sum(0) >= total)  # noqa: E731
    for judged in (
        matters,
        lambda found: matters(found) & (found[1] > users[1] * share),
        lambda found: (found[0] >= discovery) & (found[2] < users[2] * share),
        lambda found: found[0] >= discovery + 1,
        lambda found: found.sum(0) >= total + 2,
    ):
        found, exact = int(judged(drawn).sum()), REPEATS * queries * float(probable[judged(grid)].sum())
        assert 4.9 * np.sqrt(exact) < 0.05 * exact  # so many that an error of 5 % is detected
        assert abs(found - exact) <= 4.9 * np.sqrt(exact)


def test_no_query_that_many_users_have_is_overlooked():
    """The probability by which a query is drawn is never below that of its count."""
    for least in (1, 2, 3, 5, 10, 30, 64, 65, 80, 300, 2_000):
        means = np.geomspace(least / 100, 2 * least, 400)
        assert (_reached(least, means) >= stats.poisson.sf(least - 1, means) - 1e-7).all()
        assert _reached(least, np.array([1e6, 1e9])).tolist() == [1, 1]


@pytest.mark.slow
def test_no_group_has_more_users_than_its_size():
    """Nearly all queries are drawn, each for itself; together they could exceed the group."""
    equal, parameters = np.full(45_000, 1 / 45_000), Parameters(epsilon=4, delta="1e-9", max_queries=45_000)
    full = Setting(outline("flat", equal, 1, 1.0), 20_000_000, 0.5, parameters)
    assert full.tail.expected > 40_000
    for seed in range(4):
        drawn = groups(full, "", Entropy.seeded(seed))
        assert drawn.discovery.counts.sum() <= full.sizes.discovery
        assert drawn.calibration.counts.sum() <= full.sizes.calibration
        assert drawn.population.counts.sum() <= full.users


def test_few_queries_are_drawn():
    setting = flat()
    assert setting.head > 40_000
    numbers, counts = setting.tail.drawn(Entropy.seeded(1))
    assert counts.shape == (3, numbers.size)
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
    people = groups(setting, "", Entropy.seeded(1)).population
    assert people.top_queries[49] > 400 + 3.5 * 20  # the fiftieth of a million queries with 400 ± 20 users


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters", [{}, {"profile": "paper", "users": 400_000}, {"max_queries": 300}, {"epsilon": 10, "users": 400_000}]
)
def test_the_results_are_those_of_drawing_every_query(parameters, monkeypatch):
    """Means of 16 collections each: beyond 6.5 standard errors, Student's t has a probability below 1e-6."""

    def measured() -> np.ndarray:
        outcomes = simulated(flat(**parameters), 16, "measured").outcomes
        return np.array([(one.queries, one.scores["blended"].query_l1, one.scores["blended"].ndcg) for one in outcomes])

    assert flat(**parameters).tail
    rare = measured()
    monkeypatch.setattr(settings, "_EACH", 10**6)
    assert flat(**parameters).tail is None
    every = measured()
    error = np.sqrt((rare.var(axis=0) + every.var(axis=0)) / 15)
    assert (np.abs(rare.mean(axis=0) - every.mean(axis=0)) <= 6.5 * error + 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize(("users", "opt_in", "epsilon"), [(10_000_000, 0.5, 10), (10_000_000, 0.2, 10), (5_000_000, 0.5, 8)])
def test_the_list_can_be_filled_by_the_queries_that_are_drawn(users, opt_in, epsilon):
    """With little noise, nothing but the number of queries that have enough users makes up for a level that is too high."""
    parameters = Parameters(epsilon=epsilon, delta="1e-8", max_queries=50)
    tail = Setting(outline_of("zipf:0"), users, opt_in, parameters).tail
    assert stats.poisson.sf(np.ceil(tail.discovery) - 1, tail.sizes.discovery * tail.shares).sum() > 50 + 4 * np.sqrt(50)


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
    assert short.head * of_each[counts < short.tail.discovery].sum() < 0.006 * short.length.mean


def test_as_many_queries_reach_a_level_as_it_says():
    shares = zipf(50_000, 0.3)
    found = level(shares, 2_000_000, 100)
    reached = np.random.default_rng(1).poisson(2_000_000 * shares, (40, shares.size)) >= found
    assert 100 <= reached.sum(axis=1).mean() <= 130  # never fewer: nothing that matters is left out
    assert level(shares, 2_000_000, 60_000) == pytest.approx(0, abs=1e-6)
