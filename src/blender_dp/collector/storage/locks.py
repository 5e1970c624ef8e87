"""Named locks, held until a transaction ends.

A transaction that reads before it writes must lock what it reads, or it may have changed in between. In SQLite only one
transaction writes at a time anyway. On PostgreSQL these are advisory locks: they are granted in turn, so that the many
transactions that share a round cannot starve the one that closes it, as they could with row locks.
"""

from __future__ import annotations

import hashlib

import sqlalchemy as sa

from blender_dp.collector.storage.transactions import Transaction

_EXCLUSIVE = sa.text("SELECT pg_advisory_xact_lock(:number)")
_SHARED = sa.text("SELECT pg_advisory_xact_lock_shared(:number)")


def hold(transaction: Transaction, name: str, *, shared: bool = False) -> None:
    """Wait until no other transaction holds this name, then hold it until this one ends; shared holders can coexist."""
    if transaction.dialect.name != "sqlite":
        transaction.execute(_SHARED if shared else _EXCLUSIVE, {"number": _number(name)})


def hold_round(transaction: Transaction, round_id: str, *, shared: bool = False) -> None:
    """Hold a round: shared to add or remove a contribution, exclusive for a transition."""
    hold(transaction, f"round/{round_id}", shared=shared)


def hold_record(transaction: Transaction, round_id: str, owner: str, receipt: str) -> None:
    """Prevent other transactions from storing, replacing or withdrawing this user's record, or using its receipt."""
    hold(transaction, f"record/{round_id}/{owner}")
    hold(transaction, f"receipt/{receipt}")


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
