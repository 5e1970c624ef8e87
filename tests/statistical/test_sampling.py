"""The samplers have their stated distributions: χ² and exact binomial tests, false-alarm rate 1e-6 each."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from blender_dp.sampling.capped import CappedGeometric
from blender_dp.sampling.discrete import WORD, binomial, distinct, integers_below, integers_below_each
from blender_dp.sampling.laplace import GridLaplace
from tests.statistical.checks import assert_counts, assert_mean, assert_ratio, assert_share
from tests.unit.sampling import test_capped
from tests.unit.sampling.test_laplace import probability


@pytest.mark.parametrize(
    ("trials", "probability_"), [(1, 0.3), (10, 0.5), (70, 0.01), (1000, 0.2), (200_000, 5e-6), (5000, 0.999)]
)
def test_binomial_has_its_distribution(entropy, trials, probability_):
    weight = int(Fraction(probability_) * WORD)
    drawn = np.array([binomial(trials, weight, entropy) for _ in range(20_000)])
    assert_counts(np.bincount(drawn, minlength=trials + 1), stats.binom.pmf(np.arange(trials + 1), trials, weight / WORD))


def test_integers_below_are_uniform(entropy):
    drawn = integers_below(7, 200_000, entropy)
    assert_counts(np.bincount(drawn, minlength=7), np.full(7, 1 / 7))


def test_integers_below_each_are_uniform_and_independent(entropy):
    drawn = integers_below_each(np.repeat([[3], [7]], 200_000, axis=1), entropy)
    for row, bound in zip(drawn, (3, 7), strict=True):
        assert_counts(np.bincount(row, minlength=bound), np.full(bound, 1 / bound))
    together = np.bincount(drawn[0] * 7 + drawn[1], minlength=21)
    assert_counts(together, np.full(21, 1 / 21))  # and the two are independent


@pytest.mark.parametrize(("loss", "delta"), [("0.25", "0.01"), ("2", "0.001"), ("0.1", "0.5")])
def test_capped_noise_has_its_distribution(entropy, loss, delta):
    noise = CappedGeometric.of(Fraction(loss), Fraction(delta))
    drawn = noise.sample(400_000, entropy)
    lowest = -400
    chances = np.array([float(test_capped.probability(noise, x)) for x in range(lowest, noise.cap + 1)])
    assert_counts(np.bincount(np.maximum(drawn, lowest) - lowest, minlength=chances.size), chances)
    assert_mean(drawn, noise.mean)
    spread = (drawn - noise.mean) ** 2
    assert_ratio(spread.mean(), noise.variance, tolerance=0.05, noise=spread.std() / noise.variance / drawn.size**0.5)


def test_distinct_is_uniform_including_the_order(entropy):
    drawn = np.array([distinct(5, 2, entropy) for _ in range(40_000)])
    pairs = np.bincount(drawn[:, 0] * 5 + drawn[:, 1], minlength=25)
    assert_counts(pairs[pairs > 0], np.full(20, 1 / 20))
    assert np.count_nonzero(pairs) == 20


@pytest.mark.parametrize("loss", [Fraction(1, 3), Fraction(2)])
def test_noise_has_its_distribution(entropy, loss):
    noise = GridLaplace.of(loss, grid_bits=3)
    drawn = noise.sample(400_000, entropy)
    values = np.arange(1, 60 * noise.half_steps, 2)
    for sign in (1, -1):
        observed = np.bincount(np.abs(drawn[drawn * sign > 0]) // 2, minlength=values.size)[: values.size]
        assert_counts(observed, np.array([float(probability(noise, v)) for v in values.tolist()]))
    assert_share(np.count_nonzero(drawn > 0), drawn.size, 0.5)


def test_noise_has_its_variance(entropy):
    noise = GridLaplace.of(Fraction(2))
    drawn = noise.sample(1_000_000, entropy) / noise.half_steps
    assert_mean(drawn, 0.0)
    kurtosis = 6.0  # of a Laplace distribution: the variance of x² is 5 σ⁴
    assert_ratio(np.mean(drawn**2), noise.variance, tolerance=0.02, noise=((kurtosis - 1) / drawn.size) ** 0.5)


@pytest.mark.parametrize("threshold_units", [0.0, 0.3, 1.0, 2.6])
def test_the_shortcut_has_the_same_distribution_as_drawing_one_by_one(entropy, threshold_units):
    """Number of survivors and their noise: `exceeding` compared with drawing everything and keeping the values above."""
    noise = GridLaplace.of(Fraction(3, 2), grid_bits=3)
    threshold = int(threshold_units * noise.steps) * 2
    crowd, rounds = 40, 20_000
    chance = float(noise.survival(threshold))
    short = [noise.exceeding(crowd, threshold, entropy) for _ in range(rounds)]
    sizes = np.array([values.size for values in short])
    assert_counts(np.bincount(sizes, minlength=crowd + 1), stats.binom.pmf(np.arange(crowd + 1), crowd, chance))
    plain = noise.sample(crowd * rounds, entropy)
    for values in (np.concatenate(short), plain[plain > threshold]):
        places = (values - threshold) // 2
        support = threshold + 1 + 2 * np.arange(30 * noise.steps)
        expected = np.array([float(probability(noise, v)) for v in support.tolist()]) / chance
        assert_counts(np.bincount(places, minlength=support.size)[: support.size], expected)
