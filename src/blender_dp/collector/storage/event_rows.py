"""Rows of events: what happened to rounds, and in which hour."""

from __future__ import annotations

import sqlalchemy as sa

from blender_dp.collector.storage.schema import events
from blender_dp.collector.storage.transactions import Transaction


def insert(transaction: Transaction, round_id: str, event: str, at: int) -> None:
    """Record an event."""
    transaction.execute(events.insert(), {"at": at, "round": round_id, "what": event})


def time_of(transaction: Transaction, round_id: str, event: str) -> int:
    """When a round had an event; the event must exist."""
    chosen = sa.select(events.c.at).where(events.c.round == round_id, events.c.what == event)
    return int(transaction.execute(chosen).scalar_one())


def last_time(transaction: Transaction, round_id: str) -> int:
    """When a round had its last event; 0 if it had none."""
    return transaction.scalar(sa.select(sa.func.max(events.c.at)).where(events.c.round == round_id)) or 0


def round_ends(transaction: Transaction) -> dict[str, int]:
    """When each round that is over accepted its last reports, in seconds since 1970."""
    ended = sa.select(events.c.round, events.c.at).where(
        sa.or_(events.c.what == "closed", events.c.what.startswith("aborted"))
    )
    return {round_id: int(at) for round_id, at in transaction.execute(ended)}


def redate(transaction: Transaction, latest: int) -> None:
    """Move every later date back to this one."""
    transaction.execute(events.update().where(events.c.at > latest).values(at=latest))
