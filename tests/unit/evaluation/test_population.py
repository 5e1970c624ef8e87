from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from blender_dp import ParameterError, Truth
from blender_dp.evaluation.population import Population
from blender_dp.logs.synthetic import Shape, aol_shape, population


def named(of: Population) -> dict[tuple[str, str | None], int]:
    return dict(zip(of.names(np.arange(of.counts.size)), of.counts.tolist(), strict=True))


ROWS = [("1", "b", "x"), ("2", "a", "y"), ("3", "b", "z"), ("4", "b", "x"), ("5", None, None)]


def test_a_table_is_counted_as_the_truth_counts_it():
    counted = Population.of(ROWS)
    assert counted.users == 5
    assert named(counted) == Truth.of(ROWS).records == {("a", "y"): 1, ("b", "x"): 2, ("b", "z"): 1}
    assert (np.diff(counted.query_of) >= 0).all()
    assert sorted(counted.query_counts.tolist()) == [1, 3]
    assert counted.top_queries.tolist() == [3, 1]


def test_single_items_have_no_url():
    counted = Population.of(pa.table({"query": ["a", "b", "a"]}))
    assert counted.levels == 1
    assert named(counted) == {("a", None): 2, ("b", None): 1}


def test_a_shape_has_the_counts_of_its_table():
    shape = Shape(3_000, aol_shape().query_shares)
    assert named(Population.of_shape(shape, 5)) == Truth.of(population(shape, 5)).records


def test_users_are_numbered_in_the_order_of_their_records():
    counted = Population.of_counts(pa.table({"query": ["a", "b"], "url": ["x", "y"], "count": [2, 1]}), 4)
    assert counted.record_of(np.array([0, 1, 2, 3])).tolist() == [0, 0, 1, -1]


def test_records_that_no_one_has_are_left_out():
    counted = Population.of_counts(pa.table({"query": ["a", "b"], "url": ["x", "y"], "count": [2, 0]}), 4)
    assert named(counted) == {("a", "x"): 2}


def test_resizing_keeps_the_shares():
    """A binomial count deviates by 5 standard deviations with a probability below 1e-6."""
    small = Population.of_counts(pa.table({"query": ["a", "b"], "url": ["x", "y"], "count": [30, 10]}), 50)
    large = small.resized(100_000, 3)
    assert large.users == 100_000
    counts = named(large)
    assert abs(counts["a", "x"] - 60_000) < 5 * (100_000 * 0.6 * 0.4) ** 0.5
    assert abs(counts["b", "y"] - 20_000) < 5 * (100_000 * 0.2 * 0.8) ** 0.5


def test_a_population_needs_users():
    with pytest.raises(ParameterError, match="users"):
        Population.of(ROWS).resized(0)
