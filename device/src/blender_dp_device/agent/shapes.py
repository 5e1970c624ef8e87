"""The shapes that things must have which come from a collector, or from a disk that may be damaged.

Everything that is used afterwards in an address, in exact arithmetic or in a database is looked at here first: a number
such as 1e400000000 is short to write, and takes a device's whole memory to read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from blender_dp_device.errors import BlenderError, DocumentError
from blender_dp_device.wire.suggestions import Row

MOST_CELLS = 10_000
"""What one report may tell, at most; the collector takes no more either."""

MOST_ROUNDS = 1 << 40
"""A round's number is no higher: more than there will be."""

_IDENTIFIER = re.compile("[0-9a-f]{32}")
_DIGEST = re.compile("[0-9a-f]{64}")
_NUMBER = re.compile(r"[0-9]{1,40}(?:/[0-9]{1,40}|(?:\.[0-9]{1,40})?(?:e-?[0-9]{1,2})?)")


@contextmanager
def as_document(source: str) -> Iterator[None]:
    """What does not have the shape it needs is a `DocumentError`."""
    try:
        yield
    except BlenderError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        raise DocumentError(source, "does not have the shape it needs", "Nothing is done with it") from None


def identifier(value: object) -> str:
    """The id of a round."""
    return _matching(_IDENTIFIER, value)


def digest_name(value: object) -> str:
    """The digest that a document is fetched by, or a receipt."""
    return _matching(_DIGEST, value)


def number(value: object) -> Fraction:
    """A number that is written as a decimal or a fraction, and is neither huge nor tiny."""
    return Fraction(_matching(_NUMBER, value))


def whole(value: object, least: int, most: int) -> int:
    """A whole number within bounds."""
    if type(value) is not int or not least <= value <= most:  # not even True is one
        raise ValueError
    return value


def finite(value: object) -> float:
    """A number that can be compared: with NaN, every comparison fails."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError
    return float(value)


def bundle_rows(content: dict[str, Any]) -> list[Row]:
    """The queries of a bundle, each with a share and with URLs and their probabilities."""
    return [
        {
            "query": _text(row["query"]),
            "share": _share(row["share"]),
            "urls": [[_text(url), _share(probability)] for url, probability in row["urls"]],
        }
        for row in content["queries"]
    ]


def _matching(pattern: re.Pattern[str], value: object) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value
