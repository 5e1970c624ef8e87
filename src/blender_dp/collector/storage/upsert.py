"""Inserts that skip or overwrite existing rows, for either database."""

from __future__ import annotations

from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from blender_dp.collector.storage.transactions import Transaction


def insert_new(transaction: Transaction, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Insert the rows whose primary key does not exist yet."""
    transaction.execute(_skipping(table, transaction.dialect.name), rows)


def put(transaction: Transaction, table: sa.Table, row: dict[str, Any], unique: tuple[str, ...]) -> None:
    """Insert a row, or overwrite the one with the same values in these columns."""
    transaction.execute(_overwriting(table, unique, transaction.dialect.name), row)


@cache
def _skipping(table: sa.Table, dialect: str) -> sa.Insert:
    statement: sa.Insert = _insert(table, dialect).on_conflict_do_nothing()
    return statement


@cache
def _overwriting(table: sa.Table, unique: tuple[str, ...], dialect: str) -> sa.Insert:
    insert = _insert(table, dialect)
    statement: sa.Insert = insert.on_conflict_do_update(index_elements=unique, set_=dict(insert.excluded))
    return statement


def _insert(table: sa.Table, dialect: str) -> Any:  # noqa: ANN401 (each dialect has its own)
    return (sqlite if dialect == "sqlite" else postgresql).insert(table)
