from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp import ParameterError
from blender_dp.sampling.capped import HIGHEST_CAP, CappedGeometric
from blender_dp.sampling.discrete import WORD
from blender_dp_device.arithmetic import exp_bounds
from tests.unit.sampling.test_discrete import Script

LOSSES = st.fractions(Fraction(1, 20), 5, max_denominator=100)
DELTAS = st.one_of(st.integers(1, 12).map(lambda n: Fraction(1, 10**n)), st.fractions(Fraction(1, 100), Fraction(99, 100)))


def probability(noise: CappedGeometric, value: int) -> Fraction:
    """The probability of one value, straight from the definition."""
    if value > noise.cap:
        return Fraction(0)
    if value > 0:
        return Fraction(noise.weights[value - 1], WORD)
    down = Fraction(noise.more, WORD)
    return Fraction(noise.below, WORD) * (1 - down) * down**-value


@given(LOSSES, DELTAS)
def test_it_is_a_distribution(loss, delta):
    noise = CappedGeometric.of(loss, delta)
    assert noise.is_sound
    assert noise.below + sum(noise.weights) == WORD
    far = 40
    down = Fraction(noise.below, WORD) * Fraction(noise.more, WORD) ** far  # everything further below
    assert sum(probability(noise, x) for x in range(1 - far, noise.cap + 1)) + down == 1


@given(LOSSES, DELTAS)
def test_no_step_changes_the_odds_by_more_than_the_loss(loss, delta):
    noise = CappedGeometric.of(loss, delta)
    factor = exp_bounds(loss)[0]
    values = [probability(noise, x) for x in range(-3, noise.cap + 1)]
    assert all(a <= factor * b and b <= factor * a for a, b in pairwise(values))


@given(LOSSES, DELTAS)
def test_it_rises_from_delta_as_fast_as_allowed(loss, delta):
    """The maximum has all of δ; each step down has e^loss times as much, up to the mode, after which it falls at once."""
    noise = CappedGeometric.of(loss, delta)
    top = min(delta, 1 - Fraction(noise.more, WORD))  # beyond 1 - e^-loss a lone record would be too likely for ε
    assert noise.weights[-1] <= delta * WORD
    assert noise.weights[-1] > top * WORD - 2
    factor = exp_bounds(loss)[1]
    for lower, upper in pairwise(noise.weights):
        assert factor * upper - lower < 2
    assert probability(noise, 0) <= factor * probability(noise, 1)


@given(LOSSES, DELTAS, st.integers(-20, 80))
@settings(max_examples=60)
def test_survival_is_the_sum_of_the_probabilities_above(loss, delta, threshold):
    noise = CappedGeometric.of(loss, delta)
    above = sum((probability(noise, x) for x in range(threshold + 1, noise.cap + 1)), Fraction(0))
    assert noise.survival(threshold) == above


@given(LOSSES, DELTAS)
@settings(max_examples=30)
@pytest.mark.slow
def test_the_moments_are_exact(loss, delta):
    noise = CappedGeometric.of(loss + Fraction(1, 2), delta)
    values = range(-200, noise.cap + 1)
    chances = [float(probability(noise, x)) for x in values]
    mean = math.fsum(p * x for p, x in zip(chances, values, strict=True))
    variance = math.fsum(p * (x - mean) ** 2 for p, x in zip(chances, values, strict=True))
    assert noise.mean == pytest.approx(mean, rel=1e-9, abs=1e-12)
    assert noise.variance == pytest.approx(variance, rel=1e-9)


@given(LOSSES, DELTAS, st.fractions(0, 1))
@settings(max_examples=60)
def test_the_threshold_is_the_lowest_possible(loss, delta, wanted):
    noise = CappedGeometric.of(loss, delta)
    threshold = noise.threshold_for(wanted)
    assert 0 <= threshold <= noise.cap
    assert noise.survival(threshold) <= wanted
    assert threshold == 0 or noise.survival(threshold - 1) > wanted


@pytest.mark.parametrize(("loss", "delta", "cap"), [("2", "1e-5", 6), ("0.05", "1e-5", 157), ("0.05", "1e-12", 479)])
def test_the_maximum_is_as_expected(loss, delta, cap):
    """About ln(loss / 2δ) / loss, for small ε as well."""
    noise = CappedGeometric.of(Fraction(loss), Fraction(delta))
    assert noise.cap == cap
    assert cap == pytest.approx(math.log(math.tanh(float(loss) / 2) / float(delta)) / float(loss), abs=2)


@pytest.mark.parametrize(("loss", "delta"), [("2", "1e-20"), ("0.05", "1e-18"), ("0.000001", "1e-12"), ("2", "1e-300")])
@pytest.mark.slow
def test_a_delta_that_lists_nothing_is_refused(loss, delta):
    """Below about 2^-64 (or where a step up is less than one word) the weights would never grow, and it would not end."""
    with pytest.raises(ParameterError, match=r"delta: .* is so small that .* 65,536 users"):
        CappedGeometric.of(Fraction(loss), Fraction(delta))


@pytest.mark.slow
def test_very_long_noise_can_be_created():
    """The time grows linearly with the length, not quadratically."""
    noise = CappedGeometric.of(Fraction(1, 2000), Fraction(1, 10**12))
    assert 30_000 < noise.cap <= HIGHEST_CAP
    assert noise.is_sound
    assert noise.threshold_for(Fraction(1, 8)) > 0


@pytest.mark.parametrize(
    "noise",
    [
        CappedGeometric(0, (5,)),
        CappedGeometric(WORD, (5,)),
        CappedGeometric(WORD // 2, ()),
        CappedGeometric(WORD // 2, (5, 0)),
        CappedGeometric(WORD // 2, (-5, 10)),
        CappedGeometric(WORD // 2, (WORD,)),
        CappedGeometric(WORD // 2, (WORD // 2, WORD // 2)),
    ],
    ids=["never down", "for ever down", "no top", "a value never taken", "negative", "too much", "nothing below"],
)
def test_integers_that_do_not_form_a_distribution_are_not_sound(noise):
    assert not noise.is_sound


def test_a_unit_is_one_step_and_not_a_field():
    """Changing a number in an audited table must not change how counts and noise are added."""
    assert CappedGeometric.half_steps == 1
    assert set(CappedGeometric.__dataclass_fields__) == {"more", "weights"}


@given(LOSSES, DELTAS, st.data())
def test_a_word_decides_the_value_at_its_edges(loss, delta, data):
    noise = CappedGeometric.of(loss, delta)
    value = data.draw(st.integers(1, noise.cap))
    first = noise.below + sum(noise.weights[: value - 1])
    last = first + noise.weights[value - 1] - 1
    assert noise.sample(2, Script([first, last])).tolist() == [value, value]
    downwards = data.draw(st.integers(0, 5))
    words = [noise.below - 1, *[noise.more - 1] * downwards, noise.more]
    assert noise.sample(1, Script(words)).tolist() == [-downwards]


@pytest.mark.parametrize("threshold", [0, 1, 3, 5])
def test_values_drawn_above_a_threshold_exceed_it(entropy, threshold):
    noise = CappedGeometric.of(Fraction(1, 2), Fraction(1, 100))
    above = noise.exceeding(20_000, threshold, entropy)
    assert noise.cap == 7
    assert above.size > 0
    assert ((above > threshold) & (above <= noise.cap)).all()


def test_nothing_exceeds_the_cap(entropy):
    noise = CappedGeometric.of(Fraction(1), Fraction(1, 100))
    assert noise.exceeding(1000, noise.cap, entropy).size == noise.exceeding(1000, noise.cap + 5, entropy).size == 0
    assert noise.exceeding(0, 0, entropy).size == 0
    assert noise.sample(0, entropy).size == 0
    assert noise.sample(100_000, entropy).max() == noise.cap


@pytest.mark.parametrize(
    ("more", "weights", "sound"),
    [
        (1, (1,), True),
        (WORD - 1, (1, 1), True),
        (1, (WORD - 1,), True),  # one word is left for 0 and below
        (0, (1,), False),
        (WORD, (1,), False),
        (1, (), False),
        (1, (1, 0), False),
        (1, (WORD,), False),
    ],
)
def test_every_outcome_needs_at_least_one_word(more, weights, sound):
    assert CappedGeometric(more, weights).is_sound is sound
