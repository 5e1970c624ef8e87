"""Inserts that skip or overwrite existing rows, for either database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from blender_dp.collector.storage.transactions import Transaction


def insert_new(transaction: Transaction, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Insert the rows whose primary key does not exist yet."""
    transaction.execute(_insert(transaction, table).on_conflict_do_nothing(), rows)


def put(transaction: Transaction, table: sa.Table, row: dict[str, Any], unique: Iterable[str]) -> None:
    """Insert a row, or overwrite the one with the same values in these columns."""
    statement = _insert(transaction, table).values(row)
    transaction.execute(statement.on_conflict_do_update(index_elements=[*unique], set_=row))


def _insert(transaction: Transaction, table: sa.Table) -> Any:  # noqa: ANN401 (each dialect has its own)
    return (sqlite if transaction.dialect.name == "sqlite" else postgresql).insert(table)
