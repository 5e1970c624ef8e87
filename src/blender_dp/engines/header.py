"""The columns of a log: what the first line of a file calls them, and whether those that are asked for are there."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from blender_dp.engines.source import Columns, Format
from blender_dp.errors import LogError

_USUAL_NAMES = frozenset(
    {
        "user", "user_id", "userid", "uid", "id", "anonid", "client", "client_id", "query", "q", "search", "term", "text",
        "url", "link", "clickurl", "href", "target", "time", "timestamp", "date", "querytime", "itemrank", "rank", "session",
    }
)  # fmt: skip


def header_of(line: str, log_format: Format, where: str) -> tuple[str, ...]:
    """The names in the first line of a file."""
    names = tuple(next(csv.reader([line]), ()) if log_format is Format.CSV else line.split("\t"))
    if not any(names):
        raise LogError(where, "is empty", "Give a log whose first line names its columns")
    if len(set(names)) < len(names):
        raise LogError(where, "names two columns alike", "Give every column a name of its own")
    return names


def check_header(header: Sequence[str], columns: Columns, where: str) -> None:
    """Every column that is asked for is named. The line may be a person's row, so its other words stay inside."""
    usual = [name for name in header if name.casefold() in _USUAL_NAMES]
    among = f", among them {', '.join(usual)}" if usual else ""
    _check(header, columns, where, f"its first line names {len(header)} columns{among}")


def check_columns(there: Sequence[str], columns: Columns, where: str) -> None:
    """Every column that is asked for is in the schema of a table."""
    _check(there, columns, where, f"its columns are {', '.join(there)}")


def _check(there: Sequence[str], columns: Columns, where: str, described: str) -> None:
    for role, column in columns.named.items():
        if column not in there:
            problem = f"has no column {column!r} for the {role}; {described}"
            raise LogError(where, problem, f"Name the {role} column (on the command line: --{role} NAME)")
