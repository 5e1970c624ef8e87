"""How a round is: one row of the database, and how it is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from blender_dp.collector.campaign import CampaignSettings, is_id
from blender_dp.collector.storage.schema import campaigns, events, rounds
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
    opening: str | None
    head_list: str | None
    release: str | None
    bundle: str | None
    problem: str | None
    refused_at: int | None


@dataclass(frozen=True)
class ListedRound(Round):
    """One round as it is now, in a list of rounds of several campaigns."""

    campaign_name: str
    opened: int
    """When, in seconds since 1970, to the hour."""


_SHOWN = [getattr(rounds.c, name) for name in Round.__dataclass_fields__]


def find(connection: Connection, name: str) -> Round:
    """How a round is now."""
    row = connection.execute(sa.select(*_SHOWN).where(rounds.c.id == name)).one_or_none()
    if row is None:
        raise StateError("round", "is not known", "Ask for the current round", kind="missing")
    return Round(**row._mapping)


def under_way(connection: Connection) -> list[Round]:
    """All rounds that are not over, the oldest first."""
    chosen = sa.select(*_SHOWN).where(rounds.c.state.not_in(("released", "aborted"))).order_by(rounds.c.created)
    return [Round(**row._mapping) for row in connection.execute(chosen)]


def newest(connection: Connection, what: str, campaign: str | None) -> Round | None:
    """The round that this happened to last, of one campaign (by its name or its id) or of all.

    Events are numbered; clocks go back, and rounds of an hour have one time.
    """
    chosen = sa.select(*_SHOWN).join(events, events.c.round == rounds.c.id).where(events.c.what == what)
    if campaign is not None:
        chosen = chosen.where(rounds.c.campaign == campaign_id(connection, campaign))
    row = connection.execute(chosen.order_by(events.c.number.desc()).limit(1)).one_or_none()
    return Round(**row._mapping) if row else None


def rounds_opened(connection: Connection, campaign: str | None, before: str | None, limit: int) -> list[ListedRound]:
    """The rounds that were opened last, the newest first; of one campaign or of all, and only those `before` another."""
    chosen = (
        sa.select(*_SHOWN, campaigns.c.name.label("campaign_name"), rounds.c.created.label("opened"))
        .join(events, events.c.round == rounds.c.id)
        .join(campaigns, campaigns.c.id == rounds.c.campaign)
        .where(events.c.what == "opened")
    )
    if campaign is not None:
        chosen = chosen.where(rounds.c.campaign == campaign_id(connection, campaign))
    if before is not None:
        find(connection, before)
        opened = sa.select(events.c.number).where(events.c.round == before, events.c.what == "opened")
        chosen = chosen.where(events.c.number < opened.scalar_subquery())
    found = connection.execute(chosen.order_by(events.c.number.desc()).limit(limit))
    return [ListedRound(**row._mapping) for row in found]


def round_ends(connection: Connection) -> dict[str, int]:
    """When each round that is over took its last reports, in seconds since 1970."""
    ended = sa.select(events.c.round, events.c.at).where(
        sa.or_(events.c.what == "closed", events.c.what.startswith("aborted"))
    )
    return {name: int(at) for name, at in connection.execute(ended)}


def campaign_id(connection: Connection, campaign: str) -> str:
    """The id of a campaign given by its name or its id: one lookup in an index, without reading the settings."""
    column = campaigns.c.id if is_id(campaign) else campaigns.c.name
    found: str | None = connection.scalar(sa.select(campaigns.c.id).where(column == campaign))
    if found is None:
        raise _unknown_campaign()
    return found


def settings_of(connection: Connection, campaign: str) -> CampaignSettings:
    """What an operator has decided about a campaign."""
    text = connection.scalar(sa.select(campaigns.c.settings).where(campaigns.c.id == campaign))
    if text is None:
        raise _unknown_campaign()
    return CampaignSettings.stored(text)


def _unknown_campaign() -> StateError:
    return StateError("campaign", "is not known", "Ask for the campaigns there are", kind="missing")
