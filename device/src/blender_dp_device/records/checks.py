"""Checks of single parameters as exact numbers."""

from __future__ import annotations

from fractions import Fraction

from blender_dp_device.arithmetic import Number, exact
from blender_dp_device.errors import ParameterError

# Probabilities are integers over 2^64, so a larger ε would gain nothing: e^45 is already above 2^64.
_LARGEST_EPSILON = 64
_SMALLEST_EPSILON = Fraction(1, 1 << 19)


def checked_epsilon(value: Number, field: str = "epsilon") -> Fraction:
    """Return ε as a fraction; it must be positive and small enough to protect anyone."""
    epsilon = exact(value, field)
    if epsilon <= 0:
        raise ParameterError(field, f"{value} is not positive", "Use a value such as 1 or 4; smaller is more private")
    if epsilon < _SMALLEST_EPSILON:
        raise ParameterError(field, f"{value} is too small", f"Use a value of at least {float(_SMALLEST_EPSILON):g}")
    if epsilon > _LARGEST_EPSILON:
        raise ParameterError(field, f"{value} is too large", f"Use at most {_LARGEST_EPSILON}, preferably 4 or less")
    return epsilon


def checked_delta(value: Number, field: str = "delta") -> Fraction:
    """Return δ as a fraction strictly between 0 and 1."""
    return open_unit(value, field, "Use a value well below 1 / number of users, such as 1e-6")


def open_unit(value: Number, field: str, fix: str) -> Fraction:
    """Return a number strictly between 0 and 1 as a fraction."""
    number = exact(value, field)
    if not 0 < number < 1:
        raise ParameterError(field, f"{value} is not between 0 and 1 (both excluded)", fix)
    return number


def at_least_one(value: int, field: str) -> int:
    """Return a whole number that is 1 or more."""
    number = exact(value, field)
    if number.denominator != 1 or number < 1:
        raise ParameterError(field, f"{value} is not a whole number of at least 1", "Use 1 or more")
    return int(number)


def not_negative(value: Number, field: str) -> Fraction:
    """Return a number that is 0 or more as a fraction."""
    number = exact(value, field)
    if number < 0:
        raise ParameterError(field, f"{value} is negative", "Use 0 or more")
    return number
