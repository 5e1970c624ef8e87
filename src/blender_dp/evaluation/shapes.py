"""Shapes of synthetic populations by name: `aol`, `yandex`, `zipf:1.1`."""

from __future__ import annotations

from dataclasses import replace

from blender_dp.errors import ParameterError
from blender_dp.logs.synthetic import Shape, aol_shape, yandex_shape, zipf_shape
from blender_dp_device.arithmetic import exact
from blender_dp_device.records.checks import at_least_one

_MAX_EXPONENT = 10


def is_shape(text: str) -> bool:
    """Whether the text names a shape rather than a file."""
    return text in {"aol", "yandex"} or text.startswith("zipf:")


def shape_of(text: str, users: int | None = None) -> Shape:
    """The shape called `aol`, `yandex` or `zipf:EXPONENT`, with its own or another number of users."""
    if not is_shape(text):
        raise ParameterError("shape", f"{text!r} is unknown", "Use aol, yandex or zipf:EXPONENT, such as zipf:1.1")
    if text == "aol":
        shape = aol_shape()
    elif text == "yandex":
        shape = yandex_shape()
    else:
        shape = zipf_shape(_exponent(text.removeprefix("zipf:")))
    return shape if users is None else replace(shape, users=at_least_one(users, "users"))


def _exponent(text: str) -> float:
    value = exact(text, "shape")
    if not 0 <= value <= _MAX_EXPONENT:
        problem = f"the exponent {text} is not between 0 and {_MAX_EXPONENT}"
        raise ParameterError("shape", problem, "Use zipf:1.1, for example")
    return float(value)
