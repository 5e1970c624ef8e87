from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp.sampling.discrete import WORD
from blender_dp.sampling.laplace import GridLaplace

LOSSES = st.fractions(Fraction(1, 50), 20, max_denominator=100)


def probability(noise: GridLaplace, value: int) -> Fraction:
    """The probability of one value, in half steps, straight from the definition."""
    units, place = divmod((abs(value) - 1) // 2, noise.steps)
    more = Fraction(noise.more, WORD)
    return more**units * (1 - more) * Fraction(noise.weights[place], WORD) / 2


def test_it_matches_the_continuous_laplace_on_a_grid():
    noise = GridLaplace.of(Fraction(2))
    for x in (0.0, 0.25, 1.0, 3.5):
        assert float(noise.survival(int(x * noise.half_steps))) == pytest.approx(math.exp(-2 * x) / 2, rel=1e-9)
    assert noise.variance == pytest.approx(2 / 2**2, rel=1e-5)


@given(LOSSES)
@settings(max_examples=30)
def test_weights_are_integers_that_sum_to_one(loss):
    noise = GridLaplace.of(loss, grid_bits=6)
    assert sum(noise.weights) == WORD
    assert all(weight > 0 for weight in noise.weights)
    assert noise.more <= WORD


@given(LOSSES, st.integers(0, 300))
@settings(max_examples=50)
@pytest.mark.slow
def test_survival_is_the_sum_of_the_probabilities_above(loss, half_threshold):
    noise = GridLaplace.of(loss, grid_bits=3)
    threshold = 2 * half_threshold
    reach = threshold + noise.half_steps  # one whole unit further, exactly
    between = sum(probability(noise, v) for v in range(threshold + 1, reach, 2))
    assert noise.survival(threshold) - noise.survival(reach) == between
    assert noise.survival(-threshold) == 1 - noise.survival(threshold)


def test_all_probabilities_sum_to_one():
    noise = GridLaplace.of(Fraction(3), grid_bits=4)
    assert noise.survival(0) == Fraction(1, 2)
    assert 2 * sum(probability(noise, v) for v in range(1, 40 * noise.half_steps, 2)) > 1 - Fraction(1, 10**50)


@pytest.mark.slow
@given(LOSSES)
@settings(max_examples=30)
def test_variance_is_exact(loss):
    noise = GridLaplace.of(loss + 1, grid_bits=3)
    values = range(1, 200 * noise.half_steps, 2)
    direct = 2 * sum(float(probability(noise, v)) * (v / noise.half_steps) ** 2 for v in values)
    assert noise.variance == pytest.approx(direct, rel=1e-9)


@given(LOSSES, st.fractions(Fraction(1, 10**6), Fraction(1, 2)))
@settings(max_examples=50)
def test_the_threshold_is_the_lowest_possible(loss, wanted):
    noise = GridLaplace.of(loss, grid_bits=4)
    threshold = noise.threshold_for(wanted)
    assert threshold >= 0
    assert threshold % 2 == 0
    assert noise.survival(threshold) <= wanted
    assert threshold == 0 or noise.survival(threshold - 2) > wanted


def test_values_are_odd_half_steps(entropy):
    noise = GridLaplace.of(Fraction(1))
    assert (noise.sample(1000, entropy) % 2 == 1).all()


@pytest.mark.parametrize("threshold", [0, 2, 500, 2048, 5000])
def test_values_drawn_above_a_threshold_exceed_it(entropy, threshold):
    noise = GridLaplace.of(Fraction(1))
    above = noise.exceeding(20_000, threshold, entropy)
    assert above.size > 0
    assert (above > threshold).all()
    assert (above % 2 == 1).all()


def test_of_no_users_none_exceeds_the_threshold(entropy):
    assert GridLaplace.of(Fraction(1)).exceeding(0, 100, entropy).size == 0
