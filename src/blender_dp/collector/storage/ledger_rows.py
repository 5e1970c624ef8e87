"""Rows of the privacy ledger."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import sqlalchemy as sa

from blender_dp.collector.storage.schema import ledger
from blender_dp.collector.storage.transactions import Transaction


@dataclass(frozen=True)
class LedgerRow:
    """An entry with the columns for finding it."""

    number: int
    campaign: str
    round: str
    user_group: str
    at: int
    """When it was written, to the hour."""
    entry: str
    """Canonical JSON."""
    digest: str


def insert(transaction: Transaction, row: LedgerRow) -> None:
    """Add an entry."""
    transaction.execute(ledger.insert(), asdict(row))


def all_rows(transaction: Transaction) -> list[LedgerRow]:
    """The whole ledger, in order."""
    return [LedgerRow(**row._mapping) for row in transaction.execute(sa.select(ledger).order_by(ledger.c.number))]


def last_digest(transaction: Transaction, round_id: str) -> str | None:
    """The digest of a round's last entry."""
    own = sa.select(ledger.c.digest).where(ledger.c.round == round_id)
    digest: str | None = transaction.scalar(own.order_by(ledger.c.number.desc()).limit(1))
    return digest


def redate(transaction: Transaction, latest: int) -> None:
    """Move every later date back to this one."""
    transaction.execute(ledger.update().where(ledger.c.at > latest).values(at=latest))
