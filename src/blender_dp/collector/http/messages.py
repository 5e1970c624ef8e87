"""The messages of operators, and views of rounds. The messages of devices are in `blender_dp_device.wire.messages`."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.round_states import Group
from blender_dp.collector.rounds.budget import LimitName
from blender_dp.collector.storage.round_rows import Round
from blender_dp_device.wire.messages import DIGEST_PATTERN, Identifier, PublicRound, Version, message, rule

Digest = Annotated[str, Field(pattern=DIGEST_PATTERN)]
Time = Annotated[int, Field(ge=0, lt=253_402_300_800)]
"""Seconds since 1970, before the year 10000: every time can be written in ISO 8601."""


class Message(BaseModel):
    """A message: unknown fields are refused, and no value is converted to another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Versioned(Message):
    """A request may name its major version; any other than 1 is refused."""

    version: Version = 1


class RoundMessage(Versioned):
    """When the next steps are due, in seconds since 1970. A step without a time is left to the operator."""

    lists_at: Time | None = None
    closes_at: Time | None = None


WAITING = "waiting"
"""The public problem of a round that cannot advance yet. It reveals neither why nor, above all, how many users it has."""


def public_round(one: Round) -> PublicRound:
    """A round without what only its operator may see, above all how many users it has so far."""
    shown = {field.name: getattr(one, field.name) for field in fields(PublicRound)}
    if one.problem is not None and one.state != "aborted":
        shown["problem"] = WAITING
    return PublicRound(**shown)


@message
class RoundAnswer(PublicRound):
    """A round as its operator sees it: `problem` says why it does not advance, with numbers."""

    @classmethod
    def of(cls, one: Round) -> Self:
        """A round with its problem in words."""
        return cls(**{field.name: getattr(one, field.name) for field in fields(cls)})


@message
class ListedRound(RoundAnswer):
    """A round in a list of rounds."""

    campaign_name: str
    opened: Annotated[int, rule("When it was opened, in seconds since 1970, rounded down to the hour.")]


class TrendAnswer(BaseModel):
    """A query with its share and further fields, as in the release."""

    query: str
    share: float


class ReleasedRound(BaseModel):
    """A released round of a campaign; the digest is that of its signed release."""

    number: int
    release: Digest


class TrendPoint(BaseModel):
    """A query in one round: its published share, null if it is not listed, and the smoothed one, with 95 % intervals."""

    share: float | None
    low: float | None
    high: float | None
    smoothed: float
    smoothed_low: float
    smoothed_high: float


class TrendSeries(BaseModel):
    """One query in all rounds, and its smoothed change from the first to the last with a 95 % interval."""

    query: str
    points: list[TrendPoint]
    change: float
    change_low: float
    change_high: float


class TrendsAnswer(BaseModel):
    """The trends of a campaign: its rounds, oldest first, and the series of its most popular queries."""

    rounds: list[ReleasedRound]
    series: list[TrendSeries]


class LedgerEntry(Message):
    """What one group of users has spent in one round."""

    number: int
    campaign: Identifier
    round: Identifier
    group: Group
    epsilon: str
    delta: str
    before: Digest
    digest: Digest


class BudgetLine(Message):
    """What one group has spent against one limit of a campaign. Spending is rounded up; limits and remainders, down."""

    group: Group
    limit: LimitName
    days: Annotated[int | None, Field(description="Only spending in this many days counts; null: all spending.")]
    next_round: Annotated[str, Field(description="What one more round would spend by itself.")]
    spent: Annotated[str, Field(description="All rounds so far, composed.")]
    after: Annotated[str, Field(description="All rounds so far and one more, composed.")]
    most: Annotated[str | None, Field(description="The limit; null: unlimited.")]
    remaining: Annotated[str | None, Field(description="The limit minus what was spent; null: unlimited.")]


class CampaignBudget(Message):
    """A campaign's promise for every round, and its budget."""

    id: Identifier
    name: str
    epsilon: str
    delta: str
    budget: list[BudgetLine]


class CampaignShown(Message):
    """A campaign with its settings."""

    id: Identifier
    settings: CampaignSettings


class CampaignMessage(CampaignSettings):
    """A campaign to create."""

    version: Version = 1

    def settings(self) -> CampaignSettings:
        """The settings to store."""
        return CampaignSettings(**self.model_dump(exclude={"version"}))


class CampaignAnswer(Message):
    """A campaign's id, and what its promise means."""

    id: Identifier
    exposure: str
    """About how many records that only one user has a round may list."""
    warnings: list[str]
    """Why the promise is weak; empty if it is not."""


class EnrolMessage(Versioned):
    """How many opt-in users to enrol."""

    count: Annotated[int, Field(ge=1, le=10_000)] = 1


class EnrolAnswer(Message):
    """The tokens of the enrolled users. They are shown only once."""

    tokens: list[Digest]


class AbortMessage(Versioned):
    """The reason for an abort, which becomes public as the round's `problem`."""

    reason: Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f]+$", max_length=200)]
    """One line: some databases cannot store control characters, and a terminal would obey them."""
