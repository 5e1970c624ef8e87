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
    return StatedErrors.of([np.array([1.0, 2.0]), np.array([1.5, 2.0, 8.0]), np.array([2.0, 2.0])], ranks)


def test_means_are_over_the_collections_that_list_a_query(errors):
    assert errors.listed.tolist() == [3, 3, 1]
    assert errors.means(6).tolist() == pytest.approx([1.5, math.nan, math.nan, math.nan, 2.0, math.nan], nan_ok=True)
    assert errors.means(FAR + 1)[FAR] == 8.0
    assert errors.expected(FAR).mean == 8.0


@pytest.mark.parametrize("query", [1, 5, FAR - 1, FAR + 1])
def test_queries_that_were_never_listed_have_no_expected_error(errors, query):
    assert errors.expected(query) is None
    assert StatedErrors.of([np.empty(0)], [np.empty(0, np.int64)]).expected(query) is None


def test_the_spread_is_a_querys_own_if_it_is_always_listed(errors):
    spread = np.std([1.0, 1.5, 2.0], ddof=1)
    assert errors.expected(0).error == pytest.approx(spread / math.sqrt(3))
    assert errors.expected(4).error == 0


def test_a_query_that_was_listed_once_has_the_spread_of_its_neighbours():
    """Ranks 90 to 110 are neighbours of rank 100, whose own spread is unknown; rank 89 is too far away."""
    ranks = [np.array([10, 89, 95, 100, 110]), np.array([10, 89, 95, 110])]
    stated = [np.array([1.0, 1.0, 9.0, 5.0, 1.0]), np.array([9.0, 9.0, 11.0, 1.0])]
    expected = StatedErrors.of(stated, ranks).expected(100)
    relative = math.sqrt((0.1**2 + 0.1**2 + 0) / 2)  # 9 and 11 around 10, 1 and 1 around 1: two degrees of freedom
    assert (expected.mean, expected.error) == (5.0, pytest.approx(5 * relative))
