from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.privacy.rounding import rounded_down, rounded_up

NUMBERS = st.builds(
    lambda digits, power: Fraction(digits) * Fraction(10) ** power, st.integers(1, 10**9), st.integers(-340, 340)
)


@given(NUMBERS, st.integers(1, 9))
def test_what_is_shown_is_never_on_the_wrong_side(value, digits):
    """Also beyond the range of floats, where a tiny probability would be shown as 0."""
    low, high = Fraction(rounded_down(value, digits)), Fraction(rounded_up(value, digits))
    assert low <= value <= high
    assert high - low <= value * Fraction(10) ** (1 - digits)


@pytest.mark.parametrize(
    ("value", "shown"),
    [("1/3", "0.334"), ("1e-5", "1e-05"), ("0", "0"), ("1e-400", "1.00e-400"), ("123456e400", "1.24e+405")],
)
def test_examples(value, shown):
    assert rounded_up(Fraction(value)) == shown
