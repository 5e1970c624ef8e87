"""The bodies of requests and responses, as types: the OpenAPI description is derived from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
)
from pydantic_core import PydanticCustomError

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.round_states import Group, State
from blender_dp.collector.rounds.budget import LimitName
from blender_dp.collector.storage.round_rows import Round
from blender_dp_device.wire.cells import CELL_LIMIT, MAX_CELLS

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Identifier = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Time = Annotated[int, Field(ge=0, lt=253_402_300_800)]
"""Seconds since 1970, before the year 10000: every time can be written in ISO 8601."""


def _without_surrogates(value: object) -> object:
    """Text without unpaired surrogates, which JSON can write, and which the canonical form drops in any case."""
    return value.encode(errors="ignore").decode() if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_without_surrogates)]
"""Any string that JSON can contain. Its content must not change the response."""
Cell = Annotated[int, Field(ge=0, lt=CELL_LIMIT)]


def _integer(value: object) -> object:
    """The value unchanged if it is an integer: `true` and `1.0` equal 1, and are not versions."""
    if type(value) is not int:
        raise PydanticCustomError("int_type", "Input should be a valid integer")
    return value


Version = Annotated[Literal[1], BeforeValidator(_integer)]


class Message(BaseModel):
    """A message: unknown fields are refused, and no value is converted to another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Versioned(Message):
    """A request may name its major version; another one than 1 is refused."""

    version: Version = 1


class ReportMessage(Message):
    """One report: 16 random bytes as its id, the list it responds to, and its cells, one for each query, sorted."""

    id: Identifier
    head_list: Annotated[Digest, Field(description="The digest of the signed list that it responds to.")]
    cells: Annotated[list[Cell], Field(min_length=1, max_length=MAX_CELLS)]


class ReportsMessage(Versioned):
    """Some reports."""

    reports: Annotated[list[ReportMessage], Field(min_length=1, max_length=100_000)]


Reason = Literal["malformed", "another head list", "wrong number of cells", "no such cell", "not sorted", "a query twice"]


class Refusal(Message):
    """A report that was refused: its place in the request, and why."""

    index: int
    reason: Reason


class ReportsAnswer(Message):
    """All reports that are not refused are stored durably; a duplicate is not stored again."""

    refused: list[Refusal]


class RecordMessage(Versioned):
    """An opt-in user's record. If it is missing, looks personal or is too long, only the user is counted.

    The response is the same for every content. A device sends messages of one length, padded with spaces at the end.
    """

    query: Text | None = None
    url: Text | None = None
    receipt: Annotated[
        Digest | None,
        Field(description="32 random bytes that withdraw the record; by default the collector draws them."),
    ] = None


class RecordAnswer(Message):
    """The receipt that withdraws the record: the one that was sent, or else a new one."""

    receipt: Digest


class RoundMessage(Versioned):
    """When to take the next steps, in seconds since 1970; without a time, the operator takes them."""

    lists_at: Time | None = None
    closes_at: Time | None = None


WAITING = "waiting"
"""The public problem of a round that cannot take its next step yet: not why, and above all not how many users it has."""


class PublicRound(Message):
    """A round as everyone may see it: its state, and the digests of what it has published."""

    id: Identifier
    campaign: Identifier
    number: int
    state: State
    lists_at: int | None
    closes_at: int | None
    opening: Digest | None
    head_list: Digest | None
    release: Digest | None
    bundle: Digest | None
    problem: Annotated[
        str | None,
        Field(description="`waiting` if the round cannot take its next step yet; if it was aborted, the operator's reason."),
    ]

    @classmethod
    def of(cls, one: Round) -> Self:
        """A round without what only its operator may know: above all, how many users it has by now."""
        shown = {name: getattr(one, name) for name in cls.model_fields}
        if one.problem is not None and one.state != "aborted":
            shown["problem"] = WAITING
        return cls(**shown)


class RoundAnswer(PublicRound):
    """A round as its operator sees it: `problem` says why it does not advance, with numbers."""

    @classmethod
    def of(cls, one: Round) -> Self:
        """A round with its problem in words."""
        return cls(**{name: getattr(one, name) for name in cls.model_fields})


class ListedRound(RoundAnswer):
    """A round in a list of rounds."""

    campaign_name: str
    opened: Annotated[int, Field(description="When it was opened, in seconds since 1970, rounded down to the hour.")]


class Pointer(Message):
    """Pointers to the newest documents, which never change."""

    key: str
    """The collector's public key (Ed25519, base64)."""
    round: PublicRound | None
    """The newest round."""
    released: PublicRound | None
    """The newest round that has a release."""


class SignedDocument(Message):
    """A published document: canonical JSON (RFC 8785), with an Ed25519 signature of `kind` and `content`."""

    kind: Literal["opening", "head-list", "bundle", "release"]
    content: dict[str, Any]
    key: str
    signature: str


class TrendAnswer(BaseModel):
    """A query with its share, and more about it, as in the release."""

    query: str
    share: float


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
    """What one group has spent in a campaign towards one of its limits; what was spent is rounded up, the rest down."""

    group: Group
    limit: LimitName
    days: Annotated[int | None, Field(description="Only what was spent in this many days counts; null: all of it.")]
    next_round: Annotated[str, Field(description="What another round spends by itself.")]
    spent: Annotated[str, Field(description="All rounds so far, composed.")]
    after: Annotated[str, Field(description="All rounds with another one, composed.")]
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
    """Their tokens. They are shown once."""

    tokens: list[Digest]


class AbortMessage(Versioned):
    """The reason of an abort, which becomes public as the round's `problem`."""

    reason: Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f]+$", max_length=200)]
    """One line: some databases cannot store control characters, and a terminal would obey them."""
