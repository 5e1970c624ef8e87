"""Exact numbers in a release's JSON: strings such as "7/3", never floats, which would be different numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from blender_dp_device.arithmetic import EXACT_TEXT, read_exact


def _read(value: Any) -> Fraction:  # noqa: ANN401 (any JSON value)
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, str):
        raise ValueError('not exact text such as "4" or "7/3"')  # noqa: TRY004 (pydantic turns it into its own error)
    return read_exact(value, "number")


Exact = Annotated[
    Fraction,
    PlainValidator(_read),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": EXACT_TEXT}),
]
"""A fraction that is a string in JSON."""
