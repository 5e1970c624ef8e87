"""What is sent to the collector and answered, as types: the OpenAPI document is made of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Identifier = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Text = Annotated[str, Field(min_length=1, max_length=2_048)]
Cell = Annotated[int, Field(ge=0, lt=1 << 32)]


class Message(BaseModel):
    """Nothing that is not known is accepted."""

    model_config = ConfigDict(extra="forbid")


class ReportMessage(Message):
    """One report: 16 random bytes as its id, the list it answers, and the cells it tells, one for each query, sorted."""

    id: Identifier
    head_list: Digest
    cells: Annotated[list[Cell], Field(min_length=1, max_length=10_000)]


class ReportsMessage(Message):
    """Some reports."""

    reports: Annotated[list[ReportMessage], Field(min_length=1, max_length=100_000)]


class Refusal(Message):
    """A report that was not taken: its place in the request, and why."""

    index: int
    reason: Literal["another head list", "wrong number of cells", "no such cell", "a query twice"]


class ReportsAnswer(Message):
    """All reports that are not refused are stored for good; one that was there already is not stored again."""

    refused: list[Refusal]


class RecordMessage(Message):
    """An opt-in user's raw record."""

    query: Text
    url: Text | None = None


class RecordAnswer(Message):
    """What to show to take the record back."""

    receipt: Digest


class RoundMessage(Message):
    """When to take the next steps, in seconds since 1970; by hand if it is left out."""

    lists_at: Annotated[int, Field(ge=0, lt=1 << 40)] | None = None
    closes_at: Annotated[int, Field(ge=0, lt=1 << 40)] | None = None


class RoundAnswer(Message):
    """A round: its state, and the digests of what it has published."""

    id: Identifier
    campaign: Identifier
    number: int
    state: Literal["open", "listing", "listed", "closed", "released", "aborted"]
    lists_at: int | None
    closes_at: int | None
    head_list: Digest | None
    release: Digest | None
    bundle: Digest | None
    problem: str | None


class Pointer(Message):
    """Where things are now. Everything it points at never changes."""

    key: str
    """The collector's public key (Ed25519, base64)."""
    round: RoundAnswer | None


class CampaignAnswer(Message):
    """A campaign's id."""

    id: Identifier


class EnrolMessage(Message):
    """How many opt-in users to enrol."""

    count: Annotated[int, Field(ge=1, le=10_000)] = 1


class EnrolAnswer(Message):
    """Their tokens. They are shown once."""

    tokens: list[Digest]


class AbortMessage(Message):
    """Why."""

    reason: Annotated[str, Field(min_length=1, max_length=200)]
