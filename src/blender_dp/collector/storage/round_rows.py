"""Rows of rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from blender_dp.collector.round_states import OVER, State
from blender_dp.collector.storage.campaign_rows import find_id
from blender_dp.collector.storage.schema import campaigns, events, objects, rounds
from blender_dp.collector.storage.transactions import Transaction
from blender_dp.errors import StateError
from blender_dp_device.digests import DocumentDigest


@dataclass(frozen=True)
class Round:
    """What an operator may see of a round."""

    id: str
    campaign: str
    number: int
    state: State
    lists_at: int | None
    closes_at: int | None
    opening: DocumentDigest | None
    head_list: DocumentDigest | None
    release: DocumentDigest | None
    bundle: DocumentDigest | None
    problem: str | None
    refused_at: int | None


@dataclass(frozen=True)
class ListedRound(Round):
    """A round in a list of rounds of several campaigns."""

    campaign_name: str
    opened: int
    """When, in seconds since 1970, to the hour."""


@dataclass(frozen=True)
class StoredRound(Round):
    """A round with the columns that only the collector itself may see."""

    noise: bytes | None
    """The secret that fixes the noise, encrypted."""
    listing: str | None
    """What the opt-in half produced, as JSON."""


_SHOWN = [getattr(rounds.c, name) for name in Round.__dataclass_fields__]
_STORED = [getattr(rounds.c, name) for name in StoredRound.__dataclass_fields__]
_UNDER_WAY = rounds.c.state.not_in(sorted(OVER))
_ONE = rounds.c.id == sa.bindparam("one")
_SHOWN_OF_ONE = sa.select(*_SHOWN).where(_ONE)
_STORED_OF_ONE = sa.select(*_STORED).where(_ONE)


def get(transaction: Transaction, round_id: str) -> Round:
    """The current row of a round."""
    row = transaction.execute(_SHOWN_OF_ONE, {"one": round_id}).one_or_none()
    if row is None:
        raise _unknown()
    return Round(**row._mapping)


def get_stored(transaction: Transaction, round_id: str) -> StoredRound:
    """A round with all its columns."""
    one = find_stored(transaction, round_id)
    if one is None:
        raise _unknown()
    return one


def find_stored(transaction: Transaction, round_id: str) -> StoredRound | None:
    """A round with all its columns; None if it does not exist."""
    row = transaction.execute(_STORED_OF_ONE, {"one": round_id}).one_or_none()
    return StoredRound(**row._mapping) if row else None


def under_way(transaction: Transaction) -> list[Round]:
    """All unfinished rounds, oldest first."""
    chosen = sa.select(*_SHOWN).where(_UNDER_WAY).order_by(rounds.c.created)
    return [Round(**row._mapping) for row in transaction.execute(chosen)]


def states(transaction: Transaction) -> dict[str, State]:
    """The state of every round."""
    return {row.id: row.state for row in transaction.execute(sa.select(rounds.c.id, rounds.c.state))}


def newest(transaction: Transaction, event: str, campaign: str | None) -> Round | None:
    """The round with the latest event of this kind, in one campaign (by its name or id) or in all.

    The order is that of the events' numbers: clocks can be set back, and all events of an hour have the same time.
    """
    chosen = sa.select(*_SHOWN).join(events, events.c.round == rounds.c.id).where(events.c.what == event)
    if campaign is not None:
        chosen = chosen.where(rounds.c.campaign == find_id(transaction, campaign))
    row = transaction.execute(chosen.order_by(events.c.number.desc()).limit(1)).one_or_none()
    return Round(**row._mapping) if row else None


def released(transaction: Transaction, campaign: str, limit: int) -> list[Round]:
    """The latest released rounds of a campaign (by its name or id), oldest first."""
    chosen = sa.select(*_SHOWN).where(rounds.c.campaign == find_id(transaction, campaign), rounds.c.state == "released")
    rows = transaction.execute(chosen.order_by(rounds.c.number.desc()).limit(limit)).all()
    return [Round(**row._mapping) for row in reversed(rows)]


def latest_opened(transaction: Transaction, campaign: str | None, before: str | None, limit: int) -> list[ListedRound]:
    """The latest rounds of one campaign or of all, newest first; only those opened `before` another, if that is set."""
    chosen = (
        sa.select(*_SHOWN, campaigns.c.name.label("campaign_name"), rounds.c.created.label("opened"))
        .join(events, events.c.round == rounds.c.id)
        .join(campaigns, campaigns.c.id == rounds.c.campaign)
        .where(events.c.what == "opened")
    )
    if campaign is not None:
        chosen = chosen.where(rounds.c.campaign == find_id(transaction, campaign))
    if before is not None:
        get(transaction, before)
        opened = sa.select(events.c.number).where(events.c.round == before, events.c.what == "opened")
        chosen = chosen.where(events.c.number < opened.scalar_subquery())
    rows = transaction.execute(chosen.order_by(events.c.number.desc()).limit(limit))
    return [ListedRound(**row._mapping) for row in rows]


def has_one_under_way(transaction: Transaction, campaign_id: str) -> bool:
    """Whether a campaign has an unfinished round."""
    chosen = sa.select(rounds.c.id).where(rounds.c.campaign == campaign_id, _UNDER_WAY).limit(1)
    return transaction.scalar(chosen) is not None


def last_number(transaction: Transaction, campaign_id: str) -> int:
    """The number of a campaign's newest round; 0 if it has none."""
    return transaction.scalar(sa.select(sa.func.max(rounds.c.number)).where(rounds.c.campaign == campaign_id)) or 0


def last_released_list(transaction: Transaction, one: Round) -> bytes | None:
    """The head list, as a signed document, of the campaign's last released round before this one."""
    body: bytes | None = transaction.scalar(
        sa.select(objects.c.body)
        .join(rounds, rounds.c.head_list == objects.c.digest)
        .where(rounds.c.campaign == one.campaign, rounds.c.number < one.number, rounds.c.state == "released")
        .order_by(rounds.c.number.desc())
        .limit(1)
    )
    return body


def insert(transaction: Transaction, values: dict[str, Any]) -> None:
    """Add a round."""
    transaction.execute(rounds.insert(), values)


def update(transaction: Transaction, round_id: str, values: dict[str, Any]) -> None:
    """Change a round, whatever its state."""
    transaction.execute(rounds.update().where(rounds.c.id == round_id).values(values))


def advance(transaction: Transaction, round_id: str, state: State, values: dict[str, Any]) -> bool:
    """Change a round that is still in this state; of several that try, exactly one succeeds."""
    changed = transaction.execute(rounds.update().where(rounds.c.id == round_id, rounds.c.state == state).values(values))
    return changed.rowcount == 1


def _unknown() -> StateError:
    return StateError("round", "unknown", "Ask for the current round", kind="missing")
