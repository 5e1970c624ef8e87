"""Checks of values that come from a collector, or from a disk that may be damaged.

What is used later in a path, in exact arithmetic or in a database is checked here: reading 1e400000000 fills a memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from blender_dp_device.errors import BlenderError, DocumentError, ParameterError

MAX_ROUNDS = 1 << 40
"""The highest number of a round: more rounds than there will ever be."""

MAX_TIME = 1 << 42
"""The latest time, in seconds since 1970."""

_IDENTIFIER = re.compile("[0-9a-f]{32}")
_DIGEST = re.compile("[0-9a-f]{64}")
_NUMBER = re.compile(r"[0-9]{1,40}(?:/[0-9]{1,40}|(?:\.[0-9]{1,40})?(?:e-?[0-9]{1,2})?)")


@contextmanager
def as_document(source: str) -> Iterator[None]:
    """Raise `DocumentError` for anything that cannot be read or does not have the expected shape."""
    try:
        yield
    except BlenderError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, OSError):
        raise DocumentError(source, "cannot be read, or does not have the expected shape", "It is not used") from None


def identifier(value: object) -> str:
    """Return the id of a round or a campaign."""
    return _matching(_IDENTIFIER, value)


def checked_campaign(campaign: str) -> str:
    """Return the id of a campaign that a person has entered."""
    try:
        return identifier(campaign)
    except (ValueError, TypeError):
        raise ParameterError("campaign", "is not a campaign's id (32 hexadecimal digits)", "Pin the id") from None


def digest_name(value: object) -> str:
    """Return the digest that a document is fetched by, or a receipt."""
    return _matching(_DIGEST, value)


def number(value: object) -> Fraction:
    """Return a number that is written as a decimal or a fraction, and is neither huge nor tiny."""
    return Fraction(_matching(_NUMBER, value))


def whole(value: object, least: int, most: int) -> int:
    """Return a whole number within bounds."""
    if type(value) is not int or not least <= value <= most:  # True is not a number here
        raise ValueError
    return value


def finite(value: object) -> float:
    """Return a finite number: every comparison with NaN is false."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError
    return float(value)


def text(value: object) -> str:
    """Return a string without unpaired surrogates, which neither a file nor a database can store."""
    if not isinstance(value, str):
        raise TypeError
    return value.encode().decode()


def _matching(pattern: re.Pattern[str], value: object) -> str:
    if not pattern.fullmatch(text(value)):
        raise ValueError
    return text(value)
