"""Readable numbers that never understate a risk, and bounds on powers and logarithms."""

from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction

from blender_dp_device.arithmetic import FIRST_DIGITS, decimal_context, exp_bounds

_LONGEST_DECIMAL = 24
_FLOATS_END = 300


def readable(value: Fraction) -> str:
    """A readable number: a decimal if a short one is exact, otherwise the fraction."""
    context = decimal.Context(prec=_LONGEST_DECIMAL, traps=[decimal.Inexact])
    try:
        short = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    except decimal.Inexact:
        return str(value)
    plain = f"{float(value):g}" if abs(short.adjusted()) < _FLOATS_END else ""
    return plain if plain and Fraction(plain) == value else str(short)


def rounded_up(value: Fraction, digits: int = 3) -> str:
    """A decimal of a few digits that is never below the value, so that a risk is never understated."""
    return _rounded(value, digits, decimal.ROUND_CEILING)


def rounded_down(value: Fraction, digits: int = 3) -> str:
    """A decimal of a few digits that is never above the value, so that a limit is never overstated."""
    return _rounded(value, digits, decimal.ROUND_FLOOR)


def _rounded(value: Fraction, digits: int, how: str) -> str:
    quotient = decimal_context(digits, how).divide(Decimal(value.numerator), Decimal(value.denominator))
    if abs(quotient.adjusted()) < _FLOATS_END:
        return f"{float(quotient):.{digits}g}"
    return f"{quotient:.{digits - 1}e}"  # as a float it would be 0 or infinite


def exp_below(x: Fraction, count: int) -> list[Fraction]:
    """Return `count` powers of e^x, starting with the 0th, each equal to the real one or slightly below it."""
    base = exp_bounds(x)[0]
    powers, context = [Decimal(1)], decimal_context(FIRST_DIGITS, decimal.ROUND_FLOOR)
    factor = context.divide(Decimal(base.numerator), Decimal(base.denominator))
    for _ in range(count - 1):
        powers.append(context.multiply(powers[-1], factor))
    return [Fraction(power) for power in powers]


def log_above(ratio: Fraction, places: int = 12) -> float:
    """Return a float just above ln(ratio), so that a printed loss is never understated."""
    context = decimal_context(FIRST_DIGITS, decimal.ROUND_CEILING)
    value = context.ln(context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))
    rounded = float(context.quantize(value, Decimal(1).scaleb(-places)))
    return rounded + 0.0  # avoids a negative zero
