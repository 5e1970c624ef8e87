from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from blender_dp.evaluation.drift import drift, head_of, mixed, patterns
from tests.rounds import HEAD, QUERIES, rounds


def test_drift_starts_with_the_same_shares_and_is_a_walk_of_their_logarithms():
    """The standard deviation of 20,000 steps is 5 standard errors (2.5 %) off with a probability below 1e-6."""
    factors = drift(20_000, 3, 0.1, 4)
    assert (factors[0] == 1).all()
    steps = [np.log(later / earlier) for earlier, later in pairwise(factors)]
    assert [np.std(one) for one in steps] == pytest.approx([0.1, 0.1], rel=0.025)
    assert abs(np.corrcoef(*steps)[0, 1]) < 5 / 20_000**0.5
    assert np.mean(factors[2]) == pytest.approx(1, abs=5 * 0.1 * 2**0.5 / 20_000**0.5)
    assert all((one == again).all() for one, again in zip(factors, drift(20_000, 3, 0.1, 4), strict=True))


def test_patterns_are_what_their_names_say():
    factors = patterns(12, np.array([1.0, 6.0]))
    assert all(one.shape == (12, 2) and (one > 0).all() for one in factors.values())
    assert (factors["never changes"] == 1).all()
    assert factors["rises steadily to double"][[0, -1], 0].tolist() == [1, 2]
    assert factors["falls steadily to 0.4"][[0, -1], 0] == pytest.approx([1, 0.4])
    assert factors["jumps to 2.5"][:, 0].tolist() == [1] * 6 + [2.5] * 6
    assert factors["season of 4 rounds, ± 50 %"][:5, 0] == pytest.approx([1.5, 1, 0.5, 1, 1.5])
    assert factors["appears half-way"][:, 0].tolist() == [1e-4] * 5 + [1] * 7
    assert factors["vanishes half-way"][:, 0].tolist() == [1] * 6 + [1e-4] * 6
    assert factors["one round, × 3"].T.tolist() == [[1, 3] + [1] * 10, [1] * 6 + [3] + [1] * 5]


def test_half_of_the_queries_never_change_and_the_others_have_all_patterns():
    """Of 20,000 queries, half are 5 standard errors (1.8 %) off with a probability below 1e-6."""
    names, factors = mixed(20_000, 12, 1)
    expected, columns = patterns(12, np.array([1.0])), np.transpose(factors)
    assert set(names) == set(expected)
    assert names.count("never changes") / 20_000 == pytest.approx(0.5, abs=0.018)
    assert all((column == 1).all() == (name == "never changes") for name, column in zip(names, columns, strict=True))
    events = columns[[name == "one round, × 2" for name in names]]
    assert ((events == 2).sum(axis=1) == 1).all()
    assert set((events == 2).argmax(axis=1)) == set(range(1, 11))


def test_the_head_has_the_most_popular_queries():
    top = head_of(HEAD, 5)
    assert top.users == HEAD.users
    assert sorted(top.query_counts.tolist(), reverse=True) == HEAD.top_queries[:5].tolist()
    assert set(top.names(np.arange(top.counts.size))) <= set(HEAD.names(np.arange(HEAD.counts.size)))
    assert (np.diff(top.query_of) >= 0).all()


def test_rounds_have_the_shares_that_their_users_are_drawn_from():
    first, second = rounds([{}, {"google": 0.5}])
    assert set(first.shares) == set(QUERIES)
    assert second.shares["google"] == pytest.approx(first.shares["google"] / 2, rel=1e-5)
    assert second.shares["yahoo"] == first.shares["yahoo"]
    for one in (first, second):
        google = next(row for row in one.release.queries if row.query == "google")
        assert abs(google.share - one.shares["google"]) < 6 * google.variance**0.5
        assert sum(group.users for group in one.release.manifest.groups) == 100_000
    assert first.release.manifest.is_seeded


def test_each_list_is_the_next_rounds_candidates():
    first, second, third = (one.release for one in rounds([{}, {"ebay": 0.0}, {}], reuse_lists=True, max_queries=100))
    lists = [one.head_list for one in (first, second, third)]
    assert "ebay" in lists[0].queries
    assert set(lists[0].records()) <= set(lists[1].records()) <= set(lists[2].records())  # no list is full
    assert [one.manifest.candidates for one in (first, second, third)] == [None, lists[0].digest, lists[1].digest]
    ebay = next(row for row in second.queries if row.query == "ebay")
    assert abs(ebay.share) < 5 * ebay.variance**0.5
    without = rounds([{}, {"ebay": 0.0}], max_queries=100)[1].release.head_list
    assert "ebay" not in without.queries


def test_a_full_list_keeps_the_most_popular_of_candidates_and_others():
    first, second = (one.release for one in rounds([{}, {"ebay": 0.0}], reuse_lists=True, max_queries=10))
    assert (len(first.head_list), len(second.head_list)) == (10, 10)
    assert "ebay" in first.head_list.queries
    assert "ebay" not in second.head_list.queries
