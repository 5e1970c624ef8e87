"""Exact numbers: parameters as fractions, and e^x bounded by two fractions.

Private outcomes are decided by integers only. Where a formula contains e^x, the integer is determined by bounds on
both sides of the real value, so every machine and every language computes the same one.
"""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Integral

from blender_dp_device.errors import ParameterError

Number = int | float | str | Decimal | Fraction
"""The types that a parameter may have."""

FIRST_DIGITS = 60
_MOST_DIGITS = 350  # the smallest float has 324, and a published number may have 400


def exact(value: Number, field: str) -> Fraction:
    """Read a number as the exact fraction that was written: 0.1 is 1/10, not the nearest binary float.

    A number of more than 350 digits is refused before it costs time, and before anyone publishes it.
    """
    if _digits(value) > _MOST_DIGITS:
        raise ParameterError(field, f"has more than {_MOST_DIGITS} digits", "Use a decimal number such as 0.5")
    problem = ParameterError(field, f"{value!r} is not a finite number", "Use a decimal number such as 0.5")
    if isinstance(value, bool):
        raise problem
    try:
        if isinstance(value, float):  # its shortest decimal form is what was typed; its binary value is not
            return Fraction(float.__repr__(value))
        return Fraction(int(value) if isinstance(value, Integral) else value)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise problem from None


def _digits(value: Number) -> int:
    """An upper bound on the digits of numerator and denominator, without computing them."""
    if isinstance(value, Fraction):
        return max(abs(value.numerator), value.denominator).bit_length() * 3 // 10
    if isinstance(value, int):
        return value.bit_length() * 3 // 10
    text = str(value)
    number, _, exponent = text.lower().partition("e")
    try:
        return len(number) + abs(int(exponent or "0"))
    except ValueError:  # not a number, or an exponent of thousands of digits
        return len(text)


EXACT_TEXT = r"^(0|[1-9][0-9]{0,399})(/[1-9][0-9]{0,399})?$"
"""The published form of exact numbers: "4" or "7/3", in lowest terms. The limit stops a hostile file from filling memory."""


def read_exact(text: str, field: str) -> Fraction:
    """Read a published exact number, as `str(Fraction)` writes it; other spellings are refused."""
    number = exact(text, field) if re.fullmatch(EXACT_TEXT, text) else None
    if number is None or str(number) != text:
        raise ParameterError(field, f"{text[:40]!r} is not an exact number in lowest terms", 'Write it as "4" or "7/3"')
    return number


@lru_cache(maxsize=64)  # a channel needs few of them, often
def exp_bounds(x: Fraction, digits: int = FIRST_DIGITS) -> tuple[Fraction, Fraction]:
    """Return two fractions with `low <= e^x <= high`, about `digits` decimal digits apart."""
    down, up = decimal_context(digits, decimal.ROUND_FLOOR), decimal_context(digits, decimal.ROUND_CEILING)
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    # Decimal.exp is correctly rounded, so one unit in the last place is a rigorous margin.
    low = down.next_minus(down.exp(down.divide(numerator, denominator)))
    high = up.next_plus(up.exp(up.divide(numerator, denominator)))
    return Fraction(max(low, Decimal(0))), Fraction(high)


def ceil_decreasing_in_exp(formula: Callable[[Fraction], Fraction], x: Fraction) -> int:
    """Return the exact ceiling of `formula(e^x)` for a formula that decreases in e^x.

    e^x is transcendental for rational x other than 0, so with enough digits the bounds exclude every integer.
    """
    if x == 0:
        return math.ceil(formula(Fraction(1)))
    digits = FIRST_DIGITS
    while True:
        low, high = exp_bounds(x, digits)
        floor_side, ceiling_side = math.ceil(formula(high)), math.ceil(formula(low))
        if floor_side == ceiling_side:
            return ceiling_side
        digits *= 2


def decimal_context(digits: int, rounding: str) -> decimal.Context:
    """Decimal arithmetic with this many digits that never overflows."""
    return decimal.Context(prec=digits, rounding=rounding, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
