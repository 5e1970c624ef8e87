"""Rows that identify the files that belong to this database."""

from __future__ import annotations

import sqlalchemy as sa

from blender_dp.collector.storage.schema import identity
from blender_dp.collector.storage.transactions import Transaction
from blender_dp.collector.storage.upsert import insert_new as insert_new_rows


def all_values(transaction: Transaction) -> dict[str, str]:
    """All names and their values."""
    return {row.name: row.value for row in transaction.execute(sa.select(identity))}


def insert_new(transaction: Transaction, values: dict[str, str]) -> None:
    """Store the values whose names do not exist yet."""
    insert_new_rows(transaction, identity, [{"name": name, "value": value} for name, value in values.items()])
