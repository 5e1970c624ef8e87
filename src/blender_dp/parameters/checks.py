"""The checks of parameters: each takes a value and the parameter's name, and returns the exact value or raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from blender_dp.errors import ParameterError
from blender_dp_device.arithmetic import Number, exact
from blender_dp_device.records.canonical import canonical_query, canonical_url
from blender_dp_device.records.checks import open_unit
from blender_dp_device.records.head_list import HeadList

Value = TypeVar("Value")
Checked = TypeVar("Checked")


def share_of(value: Number, field: str, fix: str) -> Fraction:
    """Return a number from 0 to 1 as a fraction."""
    number = exact(value, field)
    if not 0 <= number <= 1:
        raise ParameterError(field, f"{value} is not between 0 and 1", fix)
    return number


def between_0_and_1(fix: str) -> Callable[[Number, str], Fraction]:
    """A check that a number is strictly between 0 and 1."""
    return lambda value, field: open_unit(value, field, fix)


def optional(check: Callable[[Value, str], Checked]) -> Callable[[Value | None, str], Checked | None]:
    """The same check, which also accepts None."""
    return lambda value, field: None if value is None else check(value, field)


def true_or_false(value: bool, field: str) -> bool:
    """Return a boolean."""
    if not isinstance(value, bool):
        raise ParameterError(field, f"{value!r} is not a boolean", "Pass True or False")
    return value


def one_of(names: Iterable[str]) -> Callable[[str, str], str]:
    """A check that a value is one of these names."""
    known = tuple(names)

    def check(value: str, field: str) -> str:
        if value not in known:
            raise ParameterError(field, f"{value!r} is unknown", f"Use one of: {', '.join(known)}")
        return value

    return check


def public_list(value: HeadList | Path | str, field: str) -> HeadList:
    """Return a head list, or load it from its file; every record must be in canonical form."""
    loaded = HeadList.load(value) if isinstance(value, Path | str) else value
    if not isinstance(loaded, HeadList):
        raise ParameterError(field, f"{type(value).__name__} is not a head list", "Pass a HeadList or its path")
    if any(_not_canonical(record) for record in loaded.records()):
        problem = "some records are not in canonical form, so no user's record can match them"
        raise ParameterError(field, problem, "Build the list with canonical_query and canonical_url")
    return loaded


def _not_canonical(record: tuple[str, str | None]) -> bool:
    query, url = record
    return canonical_query(query) != query or (url is not None and canonical_url(url) != url)
