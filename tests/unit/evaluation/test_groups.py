from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from blender_dp import GroupError, HeadList
from blender_dp.evaluation.groups import Listed, Split
from blender_dp.evaluation.population import Population

TABLE = pa.table({"query": ["a", "a", "b", "c"], "url": ["x", "y", "x", "x"], "count": [300, 100, 250, 50]})
POPULATION = Population.of_counts(TABLE, 1000)  # 300 users have no record
NUMBERS = {name: i for i, name in enumerate(POPULATION.names(np.arange(4)))}
LISTED = Listed.of(HeadList.of([("a", "x"), ("b", "x")]), NUMBERS, POPULATION)


def test_the_groups_have_their_sizes_and_every_user_once():
    groups = Split(POPULATION, 1).groups(0.2, 0.9)
    assert (groups.sizes.discovery, groups.sizes.calibration, groups.sizes.clients) == (180, 20, 800)
    parts = [groups.discovery.on(LISTED), groups.calibration.on(LISTED), groups.clients_on(LISTED)]
    assert [int(part.sum()) for part in parts] == [180, 20, 800]
    assert all((part >= 0).all() for part in parts)
    assert sum(parts).tolist() == groups.everyone_on(LISTED).tolist() == [300, 100, 250, 0, 350]


def test_single_items_have_one_cell_each():
    items = Population.of_counts(pa.table({"query": ["a", "b", "c"], "count": [5, 3, 1]}), 10)
    listed = Listed.of(HeadList.of([("a", None), ("c", None)]), {("a", None): 0, ("c", None): 2}, items)
    assert Split(items, 0).groups(0.5, 0.5).everyone_on(listed).tolist() == [5, 1, 4]


def test_an_empty_list_has_one_cell():
    listed = Listed.of(HeadList.of([]), {}, POPULATION)
    assert Split(POPULATION, 0).groups(0.5, 0.5).clients_on(listed).tolist() == [500]


def test_the_same_seed_gives_nested_groups():
    small, large = (Split(POPULATION, "seed").groups(share, 0.5) for share in (0.1, 0.4))
    both = small.discovery.on(LISTED) + small.calibration.on(LISTED)
    assert (both <= large.discovery.on(LISTED)).all()  # the first 100 of 200
    again = Split(POPULATION, "seed").groups(0.1, 0.5)
    assert again.discovery.on(LISTED).tolist() == small.discovery.on(LISTED).tolist()


@pytest.mark.slow
def test_the_draw_is_without_replacement():
    """Over 400 splits the mean and the variance of a count are those of the hypergeometric distribution.

    The mean of 400 draws is off by 5 standard errors, and their variance by 40 %, with a probability below 1e-6 each; a
    draw with replacement would have twice the variance.
    """
    drawn = np.array([Split(POPULATION, seed).groups(0.5, 0.5).discovery.on(LISTED)[0] for seed in range(400)])
    size, share = 250, 0.3
    variance = size * share * (1 - share) * (1000 - size) / 999
    assert abs(drawn.mean() - size * share) < 5 * (variance / 400) ** 0.5
    both = [Split(POPULATION, seed).groups(0.5, 0.5) for seed in range(400)]
    total = np.array([one.discovery.on(LISTED)[0] + one.calibration.on(LISTED)[0] for one in both])
    expected = 500 * share * (1 - share) * 500 / 999
    assert 0.6 < total.var(ddof=1) / expected < 1.4


@pytest.mark.parametrize(("opt_in", "f_o", "group"), [(0.001, 0.95, "discovery"), (0.01, 0.95, "calibration")])
def test_a_group_that_is_too_small_is_refused(opt_in, f_o, group):
    with pytest.raises(GroupError, match=group):
        Split(POPULATION, 0).groups(opt_in, f_o)
