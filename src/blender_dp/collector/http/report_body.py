"""Reading a body of reports, which anyone may send: time and memory are proportional to its length.

A decoder that knows the types builds nothing else and stops at the first error. If that fails, reports are read one by
one, so that a malformed report does not affect the others; their number is checked before any of them is read.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError

from blender_dp.collector.http.problems import ProblemError
from blender_dp_device.wire.cells import CELL_LIMIT, MAX_CELLS
from blender_dp_device.wire.messages import DIGEST_PATTERN, IDENTIFIER_PATTERN, ReportsMessage

_MANY_VALUES = 250_000  # each of them might be a report, and an unparsed one takes 60 bytes
_EXPLAINED_BYTES = 4_000  # a longer body is refused without details, of which there could be one per byte
_VERSION = msgspec.Raw(b"1")


def _whole(pattern: str) -> str:
    """The pattern in Python's dialect, where `$` would allow a line end at the end of a string."""
    return pattern.removesuffix("$") + r"\Z"


_Id = Annotated[str, msgspec.Meta(pattern=_whole(IDENTIFIER_PATTERN))]
_Digest = Annotated[str, msgspec.Meta(pattern=_whole(DIGEST_PATTERN))]
_Cell = Annotated[int, msgspec.Meta(ge=0, lt=CELL_LIMIT)]
_Cells = Annotated[list[_Cell], msgspec.Meta(min_length=1, max_length=MAX_CELLS)]


class Report(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A `ReportMessage` as the fast decoder reads it."""

    id: _Id
    head_list: _Digest
    cells: _Cells


class _Valid(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[Report]
    version: msgspec.Raw = _VERSION


class _Outline(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    id: _Id
    head_list: _Digest
    cells: msgspec.Raw


class _Outlines(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[_Outline]
    version: msgspec.Raw = _VERSION


class _Unread(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[msgspec.Raw]
    version: msgspec.Raw = _VERSION


class _Version(msgspec.Struct):
    version: msgspec.Raw = _VERSION


_VALID, _VERSION_ONLY = msgspec.json.Decoder(_Valid), msgspec.json.Decoder(_Version)
_UNREAD, _REPORT = msgspec.json.Decoder(_Unread), msgspec.json.Decoder(Report)
_OUTLINES, _CELLS = msgspec.json.Decoder(_Outlines), msgspec.json.Decoder(_Cells)
_EXPLAIN = TypeAdapter(ReportsMessage)
_ERRORS = msgspec.DecodeError, UnicodeDecodeError, RecursionError  # msgspec does not wrap the second one


def read_reports(body: bytes, maximum: int) -> list[Report | None]:
    """All reports of a body, in order, with None for those that are malformed.

    Raises a problem if there are more than `maximum` reports, or if none of them can be read.
    """
    if body.count(b",") >= _MANY_VALUES:
        return _one_by_one(body, maximum, _OUTLINES, _from_outline)
    if body.count(b"{") <= maximum + 1:  # otherwise there are probably too many
        with suppress(*_ERRORS):
            whole = _VALID.decode(body)
            if whole.reports and bytes(whole.version) == b"1":
                return list(whole.reports)
    return _one_by_one(body, maximum, _UNREAD, _REPORT.decode)


def _one_by_one(
    body: bytes, maximum: int, split: msgspec.json.Decoder[Any], read: Callable[[Any], Report]
) -> list[Report | None]:
    try:
        parts = split.decode(body)
    except _ERRORS:
        raise _refusal(body) from None
    if len(parts.reports) > maximum:
        raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-many", f"the maximum is {maximum} reports per request")
    reports = [_or_none(read, one) for one in parts.reports]
    if bytes(parts.version) != b"1" or not any(reports):
        raise _refusal(body)
    return reports


def _from_outline(outline: _Outline) -> Report:
    return Report(outline.id, outline.head_list, _CELLS.decode(outline.cells))


def _or_none(read: Callable[[Any], Report], part: object) -> Report | None:
    try:
        return read(part)
    except _ERRORS:
        return None


def _refusal(body: bytes) -> Exception:
    """Why nothing in a body can be stored, with the exact places if the body is short."""
    if _is_other_version(body):
        return RequestValidationError([{"type": "literal_error", "loc": ("body", "version"), "msg": ""}])
    return RequestValidationError(_mistakes(body) or [{"type": "malformed", "loc": ("body",), "msg": ""}])


def _is_other_version(body: bytes) -> bool:
    """Whether the body names another version, whatever else it contains."""
    try:
        version = bytes(_VERSION_ONLY.decode(body).version)
    except _ERRORS:
        return False
    return version != b"1" and version.removeprefix(b"-").isdigit()


def _mistakes(body: bytes) -> list[dict[str, Any]]:
    if len(body) > _EXPLAINED_BYTES:
        return []
    try:
        _EXPLAIN.validate_json(body)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        return [{**one, "loc": ("body", *one["loc"])} for one in errors]
    return []
