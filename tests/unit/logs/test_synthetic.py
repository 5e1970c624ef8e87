from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
import pytest

from blender_dp import ParameterError, Truth, aol_like, canonical_query, canonical_url
from blender_dp.logs.synthetic import aol_shape, record_names

pytestmark = pytest.mark.slow  # makes populations of realistic sizes


@pytest.fixture(scope="module")
def population():
    return aol_like(3)


def test_size_and_columns_match_the_papers(population):
    assert population.num_rows == 519_371
    assert population.column_names == ["user", "query", "url"]
    assert pc.count_distinct(population["user"]).as_py() == 519_371


def test_top_shares_match_the_papers(population):
    truth = Truth.of(population)
    for query, share in zip(("google", "yahoo", "google.com", "ebay"), (0.0211, 0.0067, 0.0066, 0.0030), strict=True):
        assert abs(truth.query_share(query) - share) < 4.9 * (share / 519_371) ** 0.5


def test_most_queries_are_asked_once(population):
    counts = np.array(list(Truth.of(population).queries.values()))
    assert 0.6 < (counts == 1).sum() / 519_371 < 0.8


def test_the_shape_is_a_distribution_with_a_tail():
    shares = aol_shape().query_shares
    assert shares.size == 300_000
    assert (np.diff(shares) <= 0).all()
    assert 0.25 < shares.sum() < 0.35


def test_records_are_already_canonical():
    rows = aol_like(1, users=3000).to_pylist()
    assert all((canonical_query(r["query"]), canonical_url(r["url"])) == (r["query"], r["url"]) for r in rows)


def test_a_seed_repeats_the_population():
    assert aol_like(5, users=2000).equals(aol_like(5, users=2000))
    assert not aol_like(5, users=2000).equals(aol_like(6, users=2000))


@pytest.mark.parametrize("users", [0, -5, 1.5])
def test_a_population_needs_at_least_one_user(users):
    with pytest.raises(ParameterError, match="users"):
        aol_like(1, users=users)


def test_different_numbers_get_different_words():
    names = record_names(np.arange(400_000), np.ones(400_000, np.int64))
    assert len(set(names["query"].to_pylist())) == 400_000
