"""Rows of events: what happened to rounds, and in which hour."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import sqlalchemy as sa

from blender_dp.collector.storage.schema import events
from blender_dp.collector.storage.transactions import Transaction


class Event(NamedTuple):
    """What happened to a round, and when, in seconds since 1970, to the hour."""

    what: str
    at: int


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


def of_rounds(transaction: Transaction, round_ids: Collection[str]) -> dict[str, list[Event]]:
    """What happened to each of these rounds, oldest first."""
    chosen = sa.select(events.c.round, events.c.what, events.c.at).where(events.c.round.in_(round_ids))
    by_round: dict[str, list[Event]] = {round_id: [] for round_id in round_ids}
    for row in transaction.execute(chosen.order_by(events.c.number)):
        by_round[row.round].append(Event(row.what, row.at))
    return by_round


def redate(transaction: Transaction, latest: int) -> None:
    """Move every later date back to this one."""
    transaction.execute(events.update().where(events.c.at > latest).values(at=latest))
