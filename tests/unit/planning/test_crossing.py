from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.planning.crossing import crossing


@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
def test_the_crossing_of_a_power_is_found_in_a_few_steps(power):
    seen: list[float] = []

    def shortfall(value: float) -> float:
        seen.append(value)
        return power * math.log(37 / value)

    assert 37 <= crossing(shortfall, 1.0, 1e6, 1.05) <= 37 * 1.05
    assert len(seen) <= 5


def test_a_jump_is_found_although_the_line_through_it_is_misleading():
    """Errors jump where a query starts to be listed. Without the Illinois method, this one takes 61 steps."""
    seen: list[float] = []

    def shortfall(value: float) -> float:
        seen.append(value)
        return 0.01 if value < 37 else -5.0

    assert 37 <= crossing(shortfall, 1.0, 1e6, 1.05) <= 37 * 1.05
    assert len(seen) <= 25


def test_an_interval_of_twice_the_precision_is_halved():
    """A step close to one end would leave nearly all of it."""
    seen: list[float] = []

    def shortfall(value: float) -> float:
        seen.append(value)
        return 1.0 if value < 1.09 else -0.01

    assert crossing(shortfall, 1.0, 1.1, 1.05) == pytest.approx(1.1)
    assert seen == pytest.approx([1.0, 1.1, 1.1**0.5])


def test_the_first_value_may_be_enough_and_the_last_one_too_little():
    assert crossing(lambda value: math.log(37 / value), 50.0, 1e6, 1.05) == 50
    assert crossing(lambda value: math.log(37 / value), 1.0, 30.0, 1.05) == 30
    assert crossing(lambda value: math.log(30 / value), 1.0, 30.0, 1.05) <= 30
    assert crossing(lambda value: math.log(37 / value), 30.0, 30.0, 1.05) == 30


def test_a_value_is_found_that_is_only_enough_in_the_middle():
    """A shortfall that rises again: large steps would miss every value that is enough."""

    def shortfall(value: float) -> float:
        return abs(math.log(value / 5)) - 0.3

    assert crossing(shortfall, 0.5, 20.0, 1.05) == 20
    assert 5 * math.exp(-0.3) <= crossing(shortfall, 0.5, 20.0, 1.05, 1.6) <= 5 * math.exp(-0.3) * 1.05


@given(
    st.floats(1.0, 1e6),
    st.floats(1e-6, 50),
    st.one_of(st.floats(1e-6, 50), st.just(math.inf)),
    st.sampled_from([1.01, 1.05, 1.5]),
)
def test_any_falling_shortfall_is_bracketed(where, beyond, before, precision):
    seen: list[float] = []

    def shortfall(value: float) -> float:
        seen.append(value)
        return before if value < where else -beyond

    found = crossing(shortfall, 1.0, 1e6, precision)
    assert where <= found <= where * precision * (1 + 1e-9)
    assert len(seen) < 60
