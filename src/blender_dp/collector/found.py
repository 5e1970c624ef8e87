"""How a round is: one row of the database, and how it is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.schema import campaigns, events, rounds
from blender_dp.errors import StateError

State = Literal["open", "listing", "listed", "closed", "released", "aborted"]


@dataclass(frozen=True)
class Round:
    """One round as it is now."""

    id: str
    campaign: str
    number: int
    state: State
    lists_at: int | None
    closes_at: int | None
    head_list: str | None
    release: str | None
    bundle: str | None
    problem: str | None


_SHOWN = [getattr(rounds.c, name) for name in Round.__dataclass_fields__]


def find(connection: Connection, name: str) -> Round:
    """How a round is now."""
    row = connection.execute(sa.select(*_SHOWN).where(rounds.c.id == name)).one_or_none()
    if row is None:
        raise StateError("round", "is not known", "Ask for the current round", kind="missing")
    return Round(**row._mapping)


def newest(connection: Connection, what: str, campaign: str | None) -> Round | None:
    """The round that this happened to last, of one campaign or of all.

    Events are numbered; clocks go back, and rounds of an hour have one time.
    """
    chosen = sa.select(*_SHOWN).join(events, events.c.round == rounds.c.id).where(events.c.what == what)
    if campaign is not None:
        settings_of(connection, campaign)  # one that is not known is missing, not without rounds
        chosen = chosen.where(rounds.c.campaign == campaign)
    row = connection.execute(chosen.order_by(events.c.number.desc()).limit(1)).one_or_none()
    return Round(**row._mapping) if row else None


def settings_of(connection: Connection, campaign: str) -> CampaignSettings:
    """What an operator has decided about a campaign."""
    text = connection.scalar(sa.select(campaigns.c.settings).where(campaigns.c.id == campaign))
    if text is None:
        raise StateError("campaign", "is not known", "Ask for the campaigns there are", kind="missing")
    return CampaignSettings.stored(text)
