"""Tables in memory: Arrow, pandas and polars frames, or any iterable of (user, query, url)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import pyarrow as pa

from blender_dp.errors import LogError

_SCHEMA = pa.schema([("user", pa.string()), ("query", pa.string()), ("url", pa.string())])
_SHAPES = "Pass an Arrow, pandas or (collected) polars frame, or rows of (user, query, url)"

TableLike = Any
"""Anything that supports the Arrow stream protocol, or an iterable of (user, query, url)."""


def as_table(data: TableLike, source: str = "table", *, levels: int = 2) -> pa.Table:
    """Return the data as an Arrow table. Frames keep their columns; rows get the names user, query and url.

    With one level there is no url: rows are (user, item).
    """
    if hasattr(data, "__arrow_c_stream__"):
        return _from_frame(data, source)
    if isinstance(data, Iterable) and not isinstance(data, str | bytes | Mapping):
        return _from_rows(data, source, levels)
    raise LogError(source, f"{type(data).__name__} is not a table", _SHAPES)


def _from_frame(frame: TableLike, source: str) -> pa.Table:
    try:
        table = pa.table(frame)
        table.validate(full=True)  # mainly to find text that is not UTF-8
    except (pa.ArrowException, TypeError, ValueError):  # their messages quote the data
        raise LogError(source, "is not a valid table, or contains text that is not UTF-8", _SHAPES) from None
    if len(set(table.column_names)) < table.num_columns:
        raise LogError(source, "has two columns with the same name", "Rename one of them")
    return table


def _from_rows(rows: Iterable[Any], source: str, levels: int) -> pa.Table:
    schema = pa.schema([_SCHEMA.field(i) for i in range(1 + levels)])
    columns: list[list[str | None]] = [[] for _ in schema]
    for number, row in enumerate(rows):
        if not isinstance(row, tuple | list) or len(row) != len(columns):
            fix = f"Pass rows of ({', '.join(schema.names)})"
            raise LogError(source, f"row {number} is not a tuple or list of {len(schema)} values", fix)
        for column, value in zip(columns, row, strict=True):
            column.append(_text(value, number, source))
    return pa.table(columns, schema=schema)


def _text(value: object, number: int, source: str) -> str | None:
    match value:
        case str():
            return value.encode("utf-8", "ignore").decode()  # drops unpaired surrogates, like the canonical form
        case Integral():
            return str(int(value))
        case None:
            return None
        case float() if value != value:  # noqa: PLR0124 (pandas uses NaN for missing values)
            return None
    raise LogError(source, f"row {number} contains a {type(value).__name__}", "Pass users, queries and URLs as strings")
