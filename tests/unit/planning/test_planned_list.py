from __future__ import annotations

import numpy as np
import pytest

from blender_dp.evaluation.groups import Listed
from blender_dp.parameters import Parameters
from blender_dp.planning.outline import Outline
from blender_dp.planning.planned_list import PlannedList, planned_list
from blender_dp.planning.setting import Setting
from blender_dp.sampling import Entropy
from blender_dp_device.records.head_list import HeadList
from tests.unit.planning.shapes import outline, zipf

ESTIMATORS = ["likelihood", "average"]


def setting_of(shape: Outline, users: int = 10_000, **parameters) -> Setting:
    return Setting(shape, users, 0.2, Parameters(**{"epsilon": 4, "delta": "1e-5", "max_queries": 5, **parameters}))


def made(setting: Setting, seed: object = 1) -> PlannedList:
    return planned_list(setting, setting.collection, "", Entropy.seeded(seed))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_groups_are_parts_of_the_population(estimator):
    setting = setting_of(outline("few", np.array([0.4, 0.1, 0.01]), 2, 1.0), estimator=estimator)
    one = made(setting)
    found, listed = one.groups, one.listed
    assert one.ranks.tolist() == [0, 1, 2]
    assert found.sizes == setting.sizes
    people = found.population
    names = people.names(np.arange(people.counts.size))
    assert names == sorted(set(names))
    assert listed.head_list == HeadList.of(names[number] for number in listed.records.tolist())
    parts = [found.discovery.on(listed), found.calibration.on(listed), found.clients_on(listed)]
    assert sum(parts).tolist() == found.everyone_on(listed).tolist()
    assert all((part >= 0).all() for part in parts)
    assert one.listing.head_list == listed.head_list


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_only_the_listed_queries_have_records(estimator):
    """The most popular others are only counted."""
    setting = setting_of(outline("rare", zipf(400, 0.6), 3, 0.5), 8_000, estimator=estimator, max_queries=50)
    one = made(setting)
    people, listed = one.groups.population, set(one.listed.queries.tolist())
    assert 5 < len(listed) < 50 <= one.ranks.size
    per_query = np.bincount(people.query_of)
    assert all(per_query[query] == 1 for query in range(one.ranks.size) if query not in listed)
    assert max(per_query[list(listed)]) == 3


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_single_items_have_no_urls(estimator):
    items = outline("items", zipf(100, 1.0), 1, 1.0)
    one = made(setting_of(Outline("items", 10_000, items.query_shares, items.records, levels=1), estimator=estimator))
    assert len(one.listed.head_list) == 5
    assert one.listed.head_list.levels == 1
    assert all(url is None for _, url in one.listed.head_list.records())


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_nothing_is_listed_if_nobody_has_the_same_query(estimator):
    one = made(setting_of(outline("unique", np.full(5_000, 1e-6), 2, 1.0), estimator=estimator))
    assert len(one.listed.head_list) == 0
    assert one.groups.everyone_on(one.listed).tolist() == [10_000]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_list_has_the_queries_that_its_estimator_prefers(estimator):
    """With many users, noise hardly matters: those with the most discovery, or calibration, users."""
    setting = setting_of(outline("uniform", np.full(40, 1 / 40), 1, 1.0), 4_000_000, estimator=estimator, epsilon=8)
    one = made(setting)
    group = one.groups.discovery if estimator == "likelihood" else one.groups.calibration
    counts = dict(zip(group.queries.tolist(), group.query_counts.tolist(), strict=True))
    mine = min(counts[query] for query in one.listed.queries.tolist())
    users = setting.sizes.discovery if estimator == "likelihood" else setting.sizes.calibration
    assert mine > users / 40  # the smallest of the five largest is above the mean of all
    assert len(one.listed.head_list) == 5


def test_popularity_does_not_decide_between_equal_counts():
    """Beyond 4.9 standard errors a false alarm has a probability below 1e-6; the first queries used to be preferred."""
    setting = setting_of(outline("equal", np.full(1_000, 1e-3), 1, 1.0), 60_000, epsilon=8, max_queries=50)
    ranks = np.concatenate([one.ranks[one.listed.queries] for one in (made(setting, seed) for seed in range(60))])
    assert ranks.size == 60 * 50
    assert ranks.mean() == pytest.approx(499.5, abs=4.9 * 289 / ranks.size**0.5)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_queries_that_cannot_matter_are_left_out(estimator):
    """Of a thousand equally popular queries, only those with the highest counts, or many users in all, are kept."""
    setting = setting_of(outline("uniform", np.full(1_000, 1e-3), 1, 1.0), 2_000_000, estimator=estimator)
    people = made(setting, 3).groups.population
    assert 5 <= np.unique(people.query_of).size < 500
    most = np.sort(people.query_counts)[::-1][:5]
    assert most.min() > 2_000 + 2 * np.sqrt(2_000)  # the five largest of a thousand, at 2,000 ± 45 users


def test_all_queries_of_a_short_list_are_drawn():
    setting = setting_of(outline("short", zipf(40, 0.8), 2, 1.0), max_queries=50)
    assert np.unique(made(setting).groups.population.query_of).size == 40


@pytest.mark.parametrize("queries", [20, 2_000])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_group_has_more_users_than_it_should_if_all_have_a_query(queries, estimator):
    """Counts are drawn for one query after the other; together they used to exceed the group, and others became negative."""
    shape = outline("everyone", np.full(queries, 1 / queries), 1, 1.0)
    setting = setting_of(shape, max_queries=queries, estimator=estimator)
    for seed in range(10):
        one = made(setting, seed)
        found, listed = one.groups, one.listed
        assert found.sizes == setting.sizes
        for part in (found.discovery.on(listed), found.calibration.on(listed), found.clients_on(listed)):
            assert (part >= 0).all()


def test_the_list_is_in_the_order_of_its_records():
    one = made(setting_of(outline("order", zipf(300, 0.5), 3, 1.0), 400_000, max_queries=40))
    names = one.groups.population.names(one.listed.records)
    again = Listed.of(
        one.listed.head_list, dict(zip(names, one.listed.records.tolist(), strict=True)), one.groups.population
    )
    assert again.records.tolist() == one.listed.records.tolist()
    assert (np.diff(one.listed.records) > 0).all()
