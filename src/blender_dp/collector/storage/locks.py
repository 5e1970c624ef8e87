"""Named locks, held until a transaction ends.

A transaction that reads before it writes must hold what it reads, or it may have changed in between. In SQLite a transaction
that writes is alone anyway. On PostgreSQL these are advisory locks: they are granted in turn, so that the many who share a
round cannot keep away the one who closes it, as they could with row locks.
"""

from __future__ import annotations

import hashlib

import sqlalchemy as sa

from blender_dp.collector.storage.transactions import Transaction


def hold(transaction: Transaction, name: str, *, shared: bool = False) -> None:
    """Wait until nobody else holds this name, and hold it until the transaction ends; shared holders admit each other."""
    if transaction.dialect.name != "sqlite":
        function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        transaction.execute(sa.text(f"SELECT {function}(:number)"), {"number": _number(name)})


def hold_round(transaction: Transaction, round_id: str, *, shared: bool = False) -> None:
    """Hold a round: shared by those who add to it or take from it, exclusive for a transition."""
    hold(transaction, f"round/{round_id}", shared=shared)


def hold_record(transaction: Transaction, round_id: str, owner: str, receipt: str) -> None:
    """Let nobody else store, replace or withdraw this user's record, or use its receipt."""
    hold(transaction, f"record/{round_id}/{owner}")
    hold(transaction, f"receipt/{receipt}")


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
