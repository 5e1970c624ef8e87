"""The columns of a log: their names in the first line of a file, and whether the requested ones exist."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

from blender_dp.errors import LogError
from blender_dp.logs.source import Columns, Format, Source

_USUAL_NAMES = frozenset(
    {
        "user", "user_id", "userid", "uid", "id", "anonid", "client", "client_id", "query", "q", "search", "term", "text",
        "url", "link", "clickurl", "href", "target", "time", "timestamp", "date", "querytime", "itemrank", "rank", "session",
    }
)  # fmt: skip


_OTHER_SEPARATORS = {
    ";": "--delimiter ';'",
    "|": "--delimiter '|'",
    "\t": "--format tsv, or --delimiter tab if fields are quoted",
    ",": "--format csv",
}
_LIKE_A_ROW = re.compile(r"[0-9]+|https?://.*|\S+\.[a-z]{2,}(?:/.*)?|[0-9]{4}-[0-9]{2}-.*", re.IGNORECASE | re.DOTALL)


def header_of(line: str, source: Source, where: str) -> tuple[str, ...]:
    """The names in the first line of a file."""
    fields = csv.reader([line], delimiter=source.delimiter) if source.format is Format.CSV else iter([line.split("\t")])
    names = tuple(next(fields, ()))
    if not any(names):
        raise LogError(where, "is empty", "Use a log whose first line names its columns")
    repeated = len(set(names)) < len(names)
    if not repeated or not set(names) & set(source.columns.named.values()):
        check_header(names, source.columns, where)
    if repeated:
        raise LogError(where, "has two columns with the same name", "Rename one of them")
    return names


def check_header(header: Sequence[str], columns: Columns, where: str) -> None:
    """Check that every requested column exists. The line may be a person's row, so the error does not quote it."""
    missing = {role: name for role, name in columns.named.items() if name not in header}
    if not missing:
        return
    usual = [name for name in header if name.casefold() in _USUAL_NAMES]
    if len(header) == 1 and (separator := _separator(header[0])):
        named = {"\t": "tabs", ",": "commas"}.get(separator, f"{separator!r}")
        problem = f"its first line is a single column; the fields seem to be separated by {named}"
        raise LogError(where, problem, f"Pass {_OTHER_SEPARATORS[separator]}")
    if len(missing) == len(columns.named) and not usual and any(_LIKE_A_ROW.fullmatch(name) for name in header):
        problem = f"its first line seems to be a row, not the names of its {len(header)} columns"
        raise LogError(where, problem, f"Add a first line that names the columns, such as {_example(columns)}")
    among = f", among them {', '.join(usual)}" if usual else ""
    _refuse(missing, where, f"its first line names {len(header)} columns{among}")


def check_columns(present: Sequence[str], columns: Columns, where: str) -> None:
    """Check that every requested column is in the schema of a table."""
    missing = {role: name for role, name in columns.named.items() if name not in present}
    if missing:
        _refuse(missing, where, f"its columns are {', '.join(present)}")


def _refuse(missing: Mapping[str, str], where: str, described: str) -> NoReturn:
    role, column = next(iter(missing.items()))
    without = ", or pass --no-url if there is none" if role == "url" else ""
    problem = f"has no column {column!r} for the {role}; {described}"
    raise LogError(where, problem, f"Pass the name of the {role} column (--{role} NAME), or rename the column{without}")


def _separator(line: str) -> str | None:
    """A likely separator of a line that has only one column."""
    likely = max(_OTHER_SEPARATORS, key=line.count)
    return likely if likely in line else None


def _example(columns: Columns) -> str:
    return ",".join(columns.named.values())
