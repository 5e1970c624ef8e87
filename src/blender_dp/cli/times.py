"""Times in ISO 8601 with a time zone. The collector's API counts seconds since 1970."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from blender_dp.errors import ParameterError

_EXAMPLE = "Use a time such as 2026-12-01T09:00:00Z or 2026-12-01T10:00+01:00"
_FIELDS = ("opened", "lists_at", "closes_at")  # of a round


def seconds(text: str | None, field: str) -> int | None:
    """The seconds since 1970 of an ISO 8601 time. A time without a time zone is refused, because it is ambiguous."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ParameterError(field, f"{text!r} is not an ISO 8601 time", _EXAMPLE) from None
    if time.tzinfo is None:
        raise ParameterError(field, f"{text!r} has no time zone", _EXAMPLE)
    return int(time.timestamp())


def iso(at: int) -> str:
    """An ISO 8601 time in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def with_iso_times(described: Mapping[str, Any]) -> dict[str, Any]:
    """A round as the API describes it, with its times in ISO 8601."""
    return {name: iso(value) if name in _FIELDS and value is not None else value for name, value in described.items()}
