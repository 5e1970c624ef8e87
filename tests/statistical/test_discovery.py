"""Discovery lists every count with exactly the probability it should; false-alarm rate 1e-6 per check."""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from blender_dp import Entropy
from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from tests.statistical.checks import ALARM, assert_counts, assert_mean, assert_share
from tests.unit.sampling.test_capped import probability


@pytest.mark.parametrize(("epsilon", "delta"), [("4", "1e-5"), ("1", "1e-3"), ("2", "1e-2")])
def test_records_are_listed_with_the_stated_probability(entropy, epsilon, delta):
    mechanism = LaplaceThreshold.of(Fraction(epsilon), Fraction(delta))
    crowd, counts = 200_000, np.arange(1, 14)
    selection = mechanism.selector(entropy).select(np.repeat(counts, crowd))
    listed = np.bincount(selection.rows // crowd, minlength=counts.size)
    for count, number in zip(counts.tolist(), listed.tolist(), strict=True):
        assert_share(number, crowd, float(mechanism.listing_probability(count)))


def test_a_single_occurrence_is_listed_with_half_delta(entropy):
    """The event that δ pays for, often enough to see 5 %: 60 million singletons at δ 1e-3."""
    mechanism = LaplaceThreshold.of(Fraction(4), Fraction(1, 1000))
    singletons, rounds = np.ones(2_000_000, np.int64), 30
    listed = sum(mechanism.selector(entropy).select(singletons).rows.size for _ in range(rounds))
    probability = mechanism.listing_probability(1)
    assert Fraction(1, 2000) * Fraction(99, 100) < probability <= Fraction(1, 2000)
    assert_share(listed, singletons.size * rounds, float(probability))


def test_the_crowd_shortcut_matches_drawing_one_by_one(entropy):
    """Listed or not, and the noisy counts of those listed: the shortcut against one noise per record."""
    mechanism = LaplaceThreshold.of(Fraction(2), Fraction(1, 100))
    selector = mechanism.selector(entropy)
    count = selector.largest_rare
    counts = np.full(400_000, count)
    assert count >= 2
    crowd_rows, crowd_noisy = selector._select_from_crowd(counts, count, counts.size)
    plain_rows, plain_noisy = selector._select_plainly(counts, np.arange(counts.size))
    probability = float(mechanism.listing_probability(count))
    assert_share(crowd_rows.size, counts.size, probability)
    assert_share(plain_rows.size, counts.size, probability)
    assert_mean(crowd_rows, (counts.size - 1) / 2)  # the position in the table does not matter
    assert np.corrcoef(crowd_rows, crowd_noisy)[0, 1] ** 2 * crowd_rows.size < 24  # and is independent of the noise
    scale = 2 / 2 * mechanism.noise.half_steps  # above the threshold Laplace noise is memoryless: its excess has mean b
    for noisy in (crowd_noisy, plain_noisy):
        assert_mean((noisy - mechanism.threshold) / scale, 1.0)


def test_drawing_ahead_changes_nothing(entropy):
    """In batches of many sizes, most of whose survivors were drawn with an earlier batch: same shares, same noise."""
    mechanism = LaplaceThreshold.of(Fraction(2), Fraction(1, 100))
    selector = mechanism.selector(entropy)
    count = selector.largest_rare
    sizes = [1 + 997 * i % 5000 for i in range(400)]
    selections = [selector.select(np.full(size, count)) for size in sizes]
    listed = [selection.rows.size for selection in selections]
    probability = float(mechanism.listing_probability(count))
    assert_share(sum(listed[:200]), sum(sizes[:200]), probability)
    assert_share(sum(listed[200:]), sum(sizes[200:]), probability)
    assert_mean(np.concatenate([(s.rows + 0.5) / size for s, size in zip(selections, sizes, strict=True)]), 0.5)
    assert_mean(np.concatenate([s.noisy_counts for s in selections]) - mechanism.tau, 1.0)


@pytest.mark.parametrize(("epsilon", "delta"), [("4", "1e-5"), ("1", "1e-3"), ("0.2", "1e-2")])
def test_bounded_noise_lists_every_count_with_the_stated_probability(entropy, epsilon, delta):
    mechanism = TruncatedGeometric.of(Fraction(epsilon), Fraction(delta))
    crowd, counts = 200_000, np.arange(1, 14)
    selection = mechanism.selector(entropy).select(np.repeat(counts, crowd))
    listed = np.bincount(selection.rows // crowd, minlength=counts.size)
    for count, number in zip(counts.tolist(), listed.tolist(), strict=True):
        assert_share(number, crowd, float(mechanism.listing_probability(count)))


def test_a_single_occurrence_is_listed_with_delta(entropy):
    """The event that δ pays for, often enough to see 5 %: 30 million singletons at δ 1e-3."""
    mechanism = TruncatedGeometric.of(Fraction(4), Fraction(1, 1000))
    singletons, rounds = np.ones(2_000_000, np.int64), 15
    listed = sum(mechanism.selector(entropy).select(singletons).rows.size for _ in range(rounds))
    assert Fraction(999, 1_000_000) < mechanism.listing_probability(1) <= Fraction(1, 1000)
    assert_share(listed, singletons.size * rounds, 0.001)


@pytest.mark.parametrize("count", [1, 2, 4, 7, 12, 30])
def test_the_noisy_counts_are_the_bounded_noise_above_the_threshold(entropy, count):
    """Rare counts (drawn for a crowd), in small batches, and frequent ones (drawn one by one) alike."""
    mechanism = TruncatedGeometric.of(Fraction(1), Fraction(1, 100))
    selector = mechanism.selector(entropy)
    assert 2 <= selector.largest_rare < 12
    sizes = [1 + 997 * i % 5000 for i in range(200)]
    selections = [selector.select(np.full(size, count)) for size in sizes]
    assert_share(sum(s.rows.size for s in selections), sum(sizes), float(mechanism.listing_probability(count)))
    noise = np.concatenate([s.noisy_counts for s in selections]).astype(np.int64) - count
    lowest = mechanism.threshold - count + 1
    chances = np.array([float(probability(mechanism.noise, x)) for x in range(lowest, mechanism.noise.cap + 1)])
    assert_counts(np.bincount(noise - lowest, minlength=chances.size), chances / chances.sum())
    if count <= selector.largest_rare:  # the position in the table does not matter
        assert_mean(np.concatenate([(s.rows + 0.5) / size for s, size in zip(selections, sizes, strict=True)]), 0.5)


def seen(mechanism: TruncatedGeometric, count: int, runs: int, entropy: Entropy) -> np.ndarray:
    """The output for a record with this count: its noisy count, or 0 if it is not listed."""
    observed = np.zeros(runs, np.int64)
    if count:
        selection = mechanism.selector(entropy).select(np.full(runs, count))
        observed[selection.rows] = selection.noisy_counts
    return observed


@pytest.mark.parametrize("before", [(1, 0), (4, 3), (9, 0), (12, 11)])
def test_the_observed_loss_stays_within_epsilon_and_delta(entropy, before):
    """Neighbours: one record loses a user, another gains it. Both noisy counts together, from two million runs each.

    No output that both can produce is likelier by more than e^ε; outputs that only one can produce have a probability of at
    most δ. The bounds are as wide as this number of comparisons requires.
    """
    epsilon, delta, runs, base = 1.0, 0.01, 2_000_000, 64
    mechanism = TruncatedGeometric.of(Fraction(1), Fraction(1, 100))
    after = (before[0] - 1, before[1] + 1)
    counts = [
        np.bincount(seen(mechanism, a, runs, entropy) * base + seen(mechanism, b, runs, entropy), minlength=base**2)
        for a, b in (before, after)
    ]
    wide = NormalDist().inv_cdf(1 - ALARM / (2 * base**2))
    worst = []
    for first, second in (counts, counts[::-1]):
        both = (first > 0) & (second > 0)
        ratios = np.log(first[both] / second[both]) - wide * (1 / first[both] + 1 / second[both]) ** 0.5
        worst.append(float(ratios.max()))
    assert max(worst) < epsilon
    if min(before) > mechanism.threshold:  # then both sides of the mode are visible, and all of ε is observable
        assert max(worst) > 0.8 * epsilon
    lost, gained = before[0] + mechanism.noise.cap, after[1] + mechanism.noise.cap
    only_before = counts[0].reshape(base, base)[lost].sum()
    only_after = counts[1].reshape(base, base)[:, gained].sum()
    assert counts[1].reshape(base, base)[lost].sum() == counts[0].reshape(base, base)[:, gained].sum() == 0
    for number in (only_before, only_after):
        assert_share(number, runs, delta)
