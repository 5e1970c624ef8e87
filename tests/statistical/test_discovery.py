"""Discovery lists every count with exactly the probability it should; false-alarm rate 1e-6 per check."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from tests.statistical.checks import assert_mean, assert_share


@pytest.mark.parametrize(("epsilon", "delta"), [("4", "1e-5"), ("1", "1e-3"), ("2", "1e-2")])
def test_listing_probability_per_count(entropy, epsilon, delta):
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


def test_the_crowds_way_is_the_plain_way(entropy):
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
    assert_mean(crowd_rows, (counts.size - 1) / 2)  # nobody's place in the table matters
    assert np.corrcoef(crowd_rows, crowd_noisy)[0, 1] ** 2 * crowd_rows.size < 24  # nor is it tied to the noise
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
