from __future__ import annotations

from math import comb

import numpy as np
import pytest

from blender_dp.mechanisms.listing_by_count import by_count
from blender_dp.parameters import Parameters
from blender_dp.pipeline.collection import Collection
from blender_dp.planning import listing
from blender_dp.planning.listing import Length, any_of, listing_probabilities, needed_count

MECHANISMS = [
    Collection(Parameters(epsilon=epsilon, delta="1e-5", profile=profile)).discovery
    for profile in ("tight", "paper")
    for epsilon in (1, 4)
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_the_probabilities_by_count_are_those_of_the_mechanism(mechanism):
    table = by_count(mechanism)
    assert table[0] == 0
    assert table[-1] == pytest.approx(1, abs=1e-11)
    exact = [float(mechanism.listing_probability(count)) for count in range(table.size)]
    assert table == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_the_needed_count_is_the_first_with_the_probability(mechanism):
    of_count = by_count(mechanism)
    count = needed_count(of_count)
    assert mechanism.listing_probability(count - 1) < 0.5 <= mechanism.listing_probability(count)
    assert needed_count(of_count, 0.99) > count


def test_many_records_that_nobody_has_are_not_listed():
    assert listing_probabilities(np.zeros(listing._NODES + 1), 1000, by_count(MECHANISMS[0])).max() < 1e-9


def test_a_records_probability_is_the_binomial_mean_of_the_mechanisms():
    users, table = 40, by_count(MECHANISMS[1])
    shares = np.array([1e-6, 0.01, 0.1, 0.3, 0.9, 1.0])
    exact = [
        sum(comb(users, c) * p**c * (1 - p) ** (users - c) * table[min(c, table.size - 1)] for c in range(users + 1))
        for p in shares.tolist()
    ]
    assert listing_probabilities(shares, users, table) == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_many_records_are_computed_in_parts():
    table = by_count(MECHANISMS[1])
    shares = np.random.default_rng(1).permutation(np.geomspace(1e-9, 0.5, 1_500))
    together = listing_probabilities(shares, 10_000, table)
    some = np.arange(0, 1_500, 50)
    assert together[some] == pytest.approx(listing_probabilities(shares[some], 10_000, table), abs=1e-12)


def test_probabilities_of_very_many_records_are_interpolated():
    table = by_count(MECHANISMS[1])
    shares = np.geomspace(1e-9, 0.5, 20_000)
    some = np.arange(0, 20_000, 111)
    together = listing_probabilities(shares, 30_000_000, table)[some]
    assert together == pytest.approx(listing_probabilities(shares[some], 30_000_000, table), rel=1e-3, abs=1e-7)


def test_fewer_users_than_the_table_has_counts():
    table = by_count(MECHANISMS[0])
    assert listing_probabilities(np.array([1.0 - 1e-15]), 5, table) == pytest.approx(table[5])


def test_a_query_is_listed_if_any_of_its_records_is():
    assert any_of(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 2]), 3) == pytest.approx([0.75, 0, 0.1])


def test_the_length_is_a_sum_of_independent_decisions_cut_off_at_m():
    listed = np.array([1.0, 0.5, 0.5])
    assert Length.of(listed, 5).probabilities == pytest.approx([0, 0.25, 0.5, 0.25, 0, 0])
    cut = Length.of(listed, 2)
    assert cut.probabilities == pytest.approx([0, 0.25, 0.75])
    assert (cut.mean, cut.at_least(2), cut.quantile(0.2), cut.quantile(0.3)) == pytest.approx((1.75, 0.75, 1, 2))


def test_rare_queries_are_counted_together():
    rare = Length.of(np.full(10_000, 1e-4), 50)
    assert rare.mean == pytest.approx(1)
    assert rare.probabilities[:3] == pytest.approx(np.exp(-1) * np.array([1, 1, 0.5]), rel=1e-9)
    assert Length.of(np.append(np.ones(3), np.full(100, 1e-4)), 2).probabilities == pytest.approx([0, 0, 1])


def test_further_queries_that_are_rarely_listed_are_added():
    few = Length.of(np.array([0.5]), 10, 0.25)
    assert few.mean == pytest.approx(0.75)
    assert few.probabilities[0] == pytest.approx(0.5 * np.exp(-0.25))


@pytest.mark.slow
@pytest.mark.parametrize("listed", [np.full(30_000, 0.002), np.append(np.ones(20), np.geomspace(2e-3, 0.3, 21_000))])
def test_the_length_of_a_list_of_very_many_queries_is_nearly_exact(listed, monkeypatch):
    most = int(listed.sum() + 1.5 * np.sqrt(listed.sum()))
    many = Length.of(listed, most)
    monkeypatch.setattr(listing, "_MANY", 10**6)
    exact = Length.of(listed, most)
    assert not np.array_equal(many.probabilities, exact.probabilities)
    assert np.cumsum(many.probabilities) == pytest.approx(np.cumsum(exact.probabilities), abs=5e-4)
    assert many.mean == pytest.approx(exact.mean, rel=1e-4)


def test_a_list_that_is_clearly_too_long_is_full():
    assert Length.of(np.full(1_000, 0.3), 50).probabilities.tolist() == [0.0] * 50 + [1.0]
