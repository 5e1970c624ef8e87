from __future__ import annotations

import math

import numpy as np
import pytest

from blender_dp.planning.stated_errors import StatedErrors

FAR = 999_999


@pytest.fixture
def errors():
    """Three collections: all of them list queries 0 and 4, one lists a query that is far down in the ranking."""
    ranks = [np.array([0, 4]), np.array([0, 4, FAR]), np.array([0, 4])]
    stated = [np.array([1.0, 2.0]), np.array([1.5, 2.0, 8.0]), np.array([2.0, 2.0])]
    return StatedErrors.of(stated, [3 * one for one in stated], ranks)


def test_means_are_over_the_collections_that_list_a_query(errors):
    assert errors.listed.tolist() == [3, 3, 1]
    assert errors.mean.tolist() == [1.5, 2.0, 8.0]
    assert errors.actual(6).tolist() == pytest.approx([4.5, math.nan, math.nan, math.nan, 6.0, math.nan], nan_ok=True)
    assert errors.actual(FAR + 1)[FAR] == pytest.approx(24.0)
    assert errors.actual_of(FAR).mean == pytest.approx(24.0)
    assert errors.expected(FAR).mean == 8.0


@pytest.mark.parametrize("query", [1, 5, FAR - 1, FAR + 1])
def test_queries_that_were_never_listed_have_no_expected_error(errors, query):
    assert errors.expected(query) is None
    nothing = StatedErrors.of([np.empty(0)], [np.empty(0)], [np.empty(0, np.int64)])
    assert nothing.expected(query) is None
    assert nothing.actual_of(query) is None
    assert np.isnan(nothing.actual(3)).all()


def test_the_spread_is_a_querys_own_if_it_is_always_listed(errors):
    spread = np.std([1.0, 1.5, 2.0], ddof=1)
    assert errors.expected(0).error == pytest.approx(spread / math.sqrt(3))
    assert errors.expected(4).error == 0


def test_a_query_that_was_listed_once_has_the_spread_of_its_neighbours():
    """Ranks 90 to 110 are neighbours of rank 100, whose own spread is unknown; rank 89 is too far away."""
    ranks = [np.array([10, 89, 95, 100, 110]), np.array([10, 89, 95, 110])]
    stated = [np.array([1.0, 1.0, 9.0, 5.0, 1.0]), np.array([9.0, 9.0, 11.0, 1.0])]
    expected = StatedErrors.of(stated, stated, ranks).expected(100)
    relative = math.sqrt((0.1**2 + 0.1**2 + 0) / 2)  # 9 and 11 around 10, 1 and 1 around 1: two degrees of freedom
    assert (expected.mean, expected.error) == (5.0, pytest.approx(5 * relative))


def test_actual_errors_are_those_of_queries_with_similar_ranks():
    """A factor for all queries was wrong for most: here the errors of the first half are twice as large as stated."""
    rng, runs, queries = np.random.default_rng(2), 40, 100
    stated = np.geomspace(1.0, 0.1, queries)
    factors = np.where(np.arange(queries) < 50, 2.0, 0.5)
    actual = [rng.normal(0, factors * stated) for _ in range(runs)]
    errors = StatedErrors.of([stated] * runs, actual, [np.arange(queries)] * runs)
    relative = errors.actual(queries) / (factors * stated)
    assert relative[:45] == pytest.approx(1, abs=0.25)
    assert relative[55:] == pytest.approx(1, abs=0.25)
    assert relative[:45].mean() == pytest.approx(1, abs=0.05)
