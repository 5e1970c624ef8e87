from __future__ import annotations

import numpy as np
import pytest

from blender_dp.evaluation.groups import Listed
from blender_dp.logs.synthetic import uniform
from blender_dp.parameters import Parameters
from blender_dp.planning import draws
from blender_dp.planning.outline import Outline, Records
from blender_dp.planning.setting import Setting
from blender_dp.sampling import Entropy
from blender_dp_device.records.head_list import HeadList
from tests.unit.planning.shapes import outline, zipf

SHARES = np.array([0.5, 0.05, 0.001])
USERS = 10_000
REPEATS = 1_200  # standard errors of variances are 4 %; beyond five of them a false alarm has a probability below 1e-6


def setting_of(shape: Outline, users: int = USERS, **parameters) -> Setting:
    return Setting(shape, users, 0.2, Parameters(**{"epsilon": 4, "delta": "1e-5", "max_queries": 5, **parameters}))


def close(found, exact, scale):
    """Whether variances (or covariances) agree to within five standard errors."""
    return np.abs(found - exact) <= 5 * scale * np.sqrt(2 / REPEATS)


def test_users_have_the_moments_of_a_multinomial():
    entropy = Entropy.seeded("users")
    counts = np.array([draws.drawn(USERS, SHARES, entropy) for _ in range(REPEATS)])
    mean, spread = SHARES * USERS, np.sqrt(SHARES * (1 - SHARES) * USERS)
    assert (np.abs(counts.mean(0) - mean) <= 5 * spread / np.sqrt(REPEATS) + 0.01).all()
    exact = USERS * (np.diag(SHARES) - np.outer(SHARES, SHARES))
    assert close(np.cov(counts.T), exact, np.outer(spread, spread))[:2, :2].all()
    assert close(counts.var(0), spread**2, spread**2).all()


@pytest.mark.slow
def test_users_are_distributed_over_the_records_of_their_query():
    entropy, records = Entropy.seeded("records"), Records(np.array([2, 2, 2, 7]), np.array([0.3, 0.15, 0.05, 0.1]))
    totals = np.array([[4_000, 30], [90, 0]])
    found = np.array([draws.distributed(totals, np.array([2, 7]), records, entropy) for _ in range(REPEATS)])
    assert (found[:, :, :3].sum(2) == totals[:, 0]).all()
    assert (found[:, :, 3] == totals[:, 1]).all()
    share = np.array([0.6, 0.3, 0.1])
    variance = totals[:, :1] * share * (1 - share)
    assert (np.abs(found[:, :, :3].mean(0) - totals[:, :1] * share) <= 5 * np.sqrt(variance / REPEATS)).all()
    assert close(found[:, :, :3].var(0), variance, variance).all()


def test_groups_are_parts_of_the_population():
    setting = setting_of(outline("few", np.array([0.4, 0.1, 0.01]), 2, 1.0))
    drawn = draws.drawn_groups(setting, "", Entropy.seeded(2))
    found = drawn.groups
    assert drawn.select is None
    assert drawn.ranks.tolist() == [0, 1, 2]
    assert found.sizes == setting.sizes
    people = found.population
    names = people.names(np.arange(people.counts.size))
    assert names == sorted(set(names))
    assert {query for query, _ in names} == {"query 00000000", "query 00000001", "query 00000002"}
    listed = Listed(HeadList.of(names), {name: number for number, name in enumerate(names)}, people)
    parts = [found.discovery.on(listed), found.calibration.on(listed), found.clients_on(listed)]
    assert sum(parts).tolist() == found.everyone_on(listed).tolist()
    assert all((part >= 0).all() for part in parts)


@pytest.mark.parametrize("estimator", ["likelihood", "average"])
def test_queries_that_cannot_matter_have_no_records(estimator):
    """Of a thousand equally popular queries, only those with the highest counts, or many users in all, are drawn."""
    setting = setting_of(outline("uniform", np.full(1_000, 1e-3), 1, 1.0), 2_000_000, estimator=estimator)
    people = draws.drawn_groups(setting, "", Entropy.seeded(3)).groups.population
    assert 5 <= np.unique(people.query_of).size < 500
    most = np.sort(people.query_counts)[::-1][:5]
    assert most.min() > 2_000 + 2 * np.sqrt(2_000)  # the five largest of a thousand, at 2,000 ± 45 users


@pytest.mark.parametrize("largest", [1, 3, 999, 1_000, 5_000])
@pytest.mark.parametrize("max_queries", [1, 5, 200, 400])
def test_the_most_popular_queries_have_at_least_the_count_of_the_last_one(largest, max_queries):
    counts = (uniform(300, Entropy.seeded(f"{largest}")) * (largest + 1)).astype(np.int64)
    setting = setting_of(outline("any", zipf(300, 0.8), 2, 1.0), max_queries=max_queries)
    lowest = np.sort(counts)[::-1][:max_queries][-1]
    assert draws.most_popular(counts, setting).tolist() == (counts >= lowest).tolist()


def test_all_queries_of_a_short_list_are_drawn():
    setting = setting_of(outline("short", zipf(40, 0.8), 2, 1.0), max_queries=50)
    assert np.unique(draws.drawn_groups(setting, "", Entropy.seeded(1)).groups.population.query_of).size == 40


@pytest.mark.parametrize("queries", [20, 2_000])
def test_no_group_has_more_users_than_it_should_if_all_have_a_query(queries):
    """Counts are drawn for one query after the other; together they used to exceed the group, and others became negative."""
    setting = setting_of(outline("everyone", np.full(queries, 1 / queries), 1, 1.0), max_queries=queries)
    for seed in range(10):
        found = draws.drawn_groups(setting, "", Entropy.seeded(seed)).groups
        assert found.sizes == setting.sizes
        people = found.population
        names = people.names(np.arange(people.counts.size))
        listed = Listed(HeadList.of(names), {name: number for number, name in enumerate(names)}, people)
        for part in (found.discovery.on(listed), found.calibration.on(listed), found.clients_on(listed)):
            assert (part >= 0).all()
