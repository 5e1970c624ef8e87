from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.errors import ParameterError
from blender_dp.privacy.rounding import log_above, readable, rounded_up
from blender_dp_device.arithmetic import ceil_decreasing_in_exp, exact, exp_bounds, read_exact


@pytest.mark.parametrize("value", [0.1, np.float64(0.1), "0.1", Decimal("0.1"), Fraction(1, 10), "1/10", "1e-1"])
def test_a_number_is_what_was_written(value):
    assert exact(value, "x") == Fraction(1, 10)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "four", "", None, "1/0", True, Decimal("NaN"), Decimal("Infinity")]
)
def test_an_invalid_number_is_refused_with_its_field(value):
    with pytest.raises(ParameterError, match=r"epsilon: .* is not a finite number") as caught:
        exact(value, "epsilon")
    assert caught.value.subject == "epsilon"


@pytest.mark.parametrize(
    "value",
    [
        "1e999999999",
        "1e-999999999",
        "1e-5000",
        Decimal("1e-999999"),
        "1E+0099999999",
        "1" * 400,
        "1/" + "3" * 400,
        "1e" + "9" * 5000,
        10**400,
        Fraction(1, 10**400),
    ],
    ids=lambda value: str(type(value)),
)
def test_a_huge_number_is_refused_before_it_is_computed(value):
    with pytest.raises(ParameterError, match=r"delta: .*(digits|is not a finite number)") as caught:
        exact(value, "delta")
    assert len(str(caught.value)) < 6000


@pytest.mark.parametrize("value", [5e-324, 1.7e308, "1e-300", Decimal("1e-300")])
def test_every_float_is_a_number_that_can_be_published(value):
    number = exact(value, "x")
    assert read_exact(str(number), "x") == number


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("4", "4"),
        ("0", "0"),
        ("250000", "250000"),
        ("1e-5", "1e-05"),
        ("7/3", "7/3"),
        ("0.003999999", "0.003999999"),
        ("10.0000001", "10.0000001"),
        ("20.0000000000000000001", "20.0000000000000000001"),
        ("1e-299", "1e-299"),
    ],
)
def test_a_decimal_is_shown_as_a_decimal(value, shown):
    assert readable(Fraction(value)) == shown
    assert Fraction(shown) == Fraction(value)


def test_whole_numbers_of_numpy_are_numbers():
    assert exact(np.int64(4), "x") == 4


def _series(x: Fraction, terms: int = 400) -> tuple[Fraction, Fraction]:
    """e^x for 0 <= x < 100 by its series, with a bound on the remainder: an independent way to the same number."""
    total, term = Fraction(0), Fraction(1)
    for n in range(1, terms):
        total += term
        term *= x / n
    return total, total + 2 * term


@given(st.fractions(min_value=0, max_value=20, max_denominator=1000))
def test_exp_bounds_enclose_the_series(x):
    low, high = exp_bounds(x)
    below, above = _series(x)
    assert low <= above
    assert below <= high
    assert high / low - 1 < Fraction(1, 10**55)


@given(st.fractions(min_value=-20, max_value=0, max_denominator=1000))
def test_exp_bounds_of_negative_numbers_are_reciprocals(x):
    low, high = exp_bounds(x)
    below, above = _series(-x)
    assert low <= 1 / below
    assert 1 / above <= high


def test_the_ceiling_is_found_however_close_it_is():
    # 2^300 e^-1 needs more digits than the first try has.
    expected = math.ceil(Fraction(2**300) / _series(Fraction(1))[0])
    assert ceil_decreasing_in_exp(lambda e: 2**300 / e, Fraction(1)) == expected
    assert ceil_decreasing_in_exp(lambda e: 7 / e, Fraction(0)) == 7


@given(st.fractions(min_value=Fraction(1, 1000), max_value=1000))
def test_a_printed_loss_is_never_rounded_down(ratio):
    assert 0 <= log_above(ratio) - math.log(ratio) + 1e-13 < 1e-11


def test_the_ceiling_at_zero_is_rounded_up():
    assert ceil_decreasing_in_exp(lambda e: Fraction(1, 2) / e, Fraction(0)) == 1


# Of whole numbers and fractions the bits are counted, three tenths of a digit each: 350 digits are 1,169 bits.
@pytest.mark.parametrize(
    ("longest", "too_long"),
    [
        ("1" * 350, "1" * 351),
        ("1e349", "1e350"),
        (2**1168, 2**1169),
        (-(2**1168), -(2**1169)),
        (Fraction(2**1168, 3), Fraction(2**1169, 3)),
        (Fraction(1, 2**1168), Fraction(1, 2**1169)),
    ],
)
def test_350_digits_are_allowed_and_no_more(longest, too_long):
    assert exact(longest, "x") == Fraction(longest)
    with pytest.raises(ParameterError, match="more than 350 digits"):
        exact(too_long, "x")


@given(st.fractions(min_value=0))
def test_exact_text_is_read_back(value):
    assert read_exact(str(value), "x") == value


@pytest.mark.parametrize(
    "text", ["", "4.0", "8/2", "04", "-1", "+1", "1e3", "1/0", "0/2", " 4", "4\n", "1_0", "٤", "9" * 401]
)
def test_other_spellings_of_a_number_are_refused(text):
    with pytest.raises(ParameterError, match="lowest terms"):
        read_exact(text, "x")


def test_numbers_for_people_are_short_or_exact():
    shown = ["4", "2.5", "1e-05", "7/3", "1/300000", "0"]
    assert [readable(Fraction(text)) for text in shown] == shown


@given(st.fractions(min_value=0), st.integers(1, 6))
def test_rounding_up_never_yields_a_smaller_number(value, digits):
    rounded = Fraction(rounded_up(value, digits))
    assert value <= rounded <= value * (1 + 10 * Fraction(1, 10**digits))
