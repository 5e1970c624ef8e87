from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.listing_by_count import by_count
from blender_dp.mechanisms.selector import Selection
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.planning.listing import any_within
from blender_dp.planning.rare_listing import listable, select_rare
from blender_dp.sampling import Entropy

MECHANISMS = [
    TruncatedGeometric.of(4, "1e-5"),
    TruncatedGeometric.of("0.5", "1e-3"),
    LaplaceThreshold.of(4, "1e-5"),
    LaplaceThreshold.of("0.7", "1e-3"),
]
REPEATS = 20_000  # an error of 5 % in a probability of 0.35 or more is detected; false alarms beyond 4.9 standard deviations


def select(mechanism, counts: list[list[int]], seed: object, likely: float = 1e-300) -> Selection:
    """Select from queries with a list of records each; unless stated otherwise, all queries are listed."""
    sizes = np.array([len(one) for one in counts])
    looked_at = np.full(sizes.size, likely)
    return select_rare(
        mechanism, by_count(mechanism), looked_at, np.concatenate(counts), np.cumsum(sizes) - sizes, Entropy.seeded(seed)
    )


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_distribution_of_users_over_records_makes_a_query_more_probable_than_its_bound(mechanism):
    of_count = by_count(mechanism)
    bound, missing = listable(of_count), np.log1p(-np.minimum(of_count, 1 - 1e-15))
    best = np.zeros(of_count.size)  # the best distribution of n users: one record with k of them, and the best of the rest
    for n in range(1, of_count.size):
        best[n] = min(missing[k] + best[n - k] for k in range(1, n + 1))
    assert (bound[: of_count.size] >= -np.expm1(best) - 1e-12).all()
    assert bound[0] == 0
    assert bound[-1] == 1


@pytest.mark.parametrize("mechanism", MECHANISMS[:2])
def test_the_bound_is_attained_by_one_record_if_the_noise_is_geometric(mechanism):
    of_count = by_count(mechanism)
    assert listable(of_count)[:-1] == pytest.approx(of_count, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_given_that_a_query_is_listed_its_records_are_listed_as_often_as_by_the_mechanism(mechanism):
    half = int(np.searchsorted(by_count(mechanism), 0.5))
    counts = [half, half - 1, half]
    found = np.zeros((REPEATS, 3))
    selected = select(mechanism, [counts] * REPEATS, "given")
    found.ravel()[selected.rows] = selected.noisy_counts
    entropy = Entropy.seeded("mechanism")
    decided = mechanism.selector(entropy).select(np.tile(counts, 4 * REPEATS))
    exact = np.zeros((4 * REPEATS, 3))
    exact.ravel()[decided.rows] = decided.noisy_counts
    exact = exact[exact.any(axis=1)][:REPEATS]
    assert exact.shape == found.shape
    assert found.any(axis=1).all()
    for judged in (lambda x: x > 0, lambda x: (x[:, :1] > 0) & (x > 0), lambda x: x > mechanism.tau + 1.5):
        one, other = judged(found).mean(0), judged(exact).mean(0)
        assert (np.abs(one - other) <= 4.9 * np.sqrt((one * (1 - one) + other * (1 - other)) / REPEATS) + 1e-9).all()
    for record in range(3):
        noisy = [x[x[:, record] > 0, record] for x in (found, exact)]
        assert stats.ks_2samp(*noisy).pvalue > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "count"),
    [
        *product(MECHANISMS, [1, 2, 3]),
        *product([TruncatedGeometric.of("0.01", "0.01")], [1, 2, 5]),  # nearly all of its noise is negative
    ],
)
def test_the_noise_of_a_record_that_is_hardly_ever_listed_is_that_of_the_mechanism(mechanism, count):
    """The exact distribution: the noisy count exceeds the threshold by k or more as often as if there were k users fewer."""
    selected = select(mechanism, [[count]] * REPEATS, f"hardly {count}")
    assert selected.rows.size == REPEATS
    step, threshold = mechanism.noise.half_steps, mechanism.threshold
    survival = [float(mechanism.noise.survival(threshold + k * step - count * step)) for k in range(4)]
    exceeds = [np.count_nonzero(selected.noisy_counts * step > threshold + k * step) for k in range(4)]
    assert exceeds[0] == REPEATS
    for (before, after), (p, q) in zip(pairwise(exceeds), pairwise(survival), strict=True):
        share = q / p if p else 0.0
        assert abs(after - before * share) <= 4.9 * np.sqrt(before * share * (1 - share)) + 1e-9


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_queries_are_listed_as_often_as_by_the_mechanism(mechanism):
    """Given how probable it was that they were looked at; 4.9 standard deviations."""
    half, factor = int(np.searchsorted(by_count(mechanism), 0.5)), 0.8
    of_records = by_count(mechanism)[[half - 1, 1]]
    chance = 1 - float(np.prod(1 - of_records))
    looked_at = chance / factor
    selected = select(mechanism, [[half - 1, 1]] * REPEATS, "as often", looked_at)
    listed = np.unique(selected.rows // 2).size
    assert looked_at <= 1
    assert abs(listed - REPEATS * factor) <= 4.9 * np.sqrt(REPEATS * factor * (1 - factor))


def test_nothing_can_be_listed():
    selection = select(MECHANISMS[0], [[3], [2]], 1, likely=1e300)
    assert selection.rows.size == selection.noisy_counts.size == 0
    empty = np.empty(0, np.int64)
    selection = select_rare(MECHANISMS[0], by_count(MECHANISMS[0]), np.empty(0), empty, empty, Entropy.seeded(1))
    assert selection.rows.size == selection.noisy_counts.size == 0


def test_one_of_several_records_is_enough():
    assert any_within(np.array([0.5, 0.5, 1e-9, 1.0, 0.0]), np.array([0, 2, 3])) == pytest.approx([0.75, 1e-9, 1.0])
