"""Tables in memory: Arrow, pandas and polars frames, or any iterable of (user, query, url)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from blender_dp.errors import LogError

_SCHEMA = pa.schema([("user", pa.string()), ("query", pa.string()), ("url", pa.string())])

TableLike = Any
"""Anything that speaks the Arrow stream protocol, or an iterable of (user, query, url)."""


def as_table(data: TableLike, name: str = "table") -> pa.Table:
    """Return the data as an Arrow table. Frames keep their columns; rows get the names user, query and url."""
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    if isinstance(data, Iterable):
        return _from_rows(data, name)
    raise LogError(
        name, f"{type(data).__name__} is no table", "Give an Arrow, pandas or polars frame, or rows of (user, query, url)"
    )


def _from_rows(rows: Iterable[Any], name: str) -> pa.Table:
    columns: list[list[str | None]] = [[], [], []]
    for number, row in enumerate(rows):
        try:
            values = tuple(row)
        except TypeError:
            values = ()
        if len(values) != len(columns):
            raise LogError(name, f"row {number} does not have 3 values", "Give rows of (user, query, url)")
        for column, value in zip(columns, values, strict=True):
            column.append(value if value is None else str(value))
    return pa.table(columns, schema=_SCHEMA)
