"""What people look at: responses for the dashboard and other readers. Devices need none of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from blender_dp.collector.http.messages import BudgetLine, Digest, ReleasedRound, RoundAnswer
from blender_dp.collector.round_states import Event, State
from blender_dp.invitation import Invitation
from blender_dp_device.wire.messages import Identifier, PublicRound


class Happened(BaseModel):
    """An event of a round, the state after it, and when, in seconds since 1970, rounded down to the hour."""

    event: Event
    state: State
    at: int


class Destroyed(BaseModel):
    """What no longer exists, and since when; `at` is null if the deletion took place some time after its event."""

    what: str
    at: int | None


class RoundHistory(BaseModel):
    """A round with everything that has happened to it."""

    round: PublicRound
    opened: Annotated[int, Field(description="When it was opened, in seconds since 1970, rounded down to the hour.")]
    events: list[Happened]
    destroyed: list[Destroyed]


class ChangeShown(BaseModel):
    """One query's change between two releases; a share is null if that release does not list the query."""

    query: str
    kind: Literal["risen", "fallen", "new", "gone", "unchanged"]
    old_share: float | None
    new_share: float | None
    difference: float | None
    low: float
    high: float
    p_value: float
    chance_missing: Annotated[
        float | None, Field(description="The probability that noise alone keeps the query off the list that lacks it.")
    ]


class ChangesAnswer(BaseModel):
    """What changed between the last two releases, discoveries first; null if they cannot be compared."""

    rounds: list[ReleasedRound]
    false_discovery_rate: float
    changes: list[ChangeShown] | None


class GroupPromise(BaseModel):
    """What one round promises to one group of users."""

    group: str
    epsilon: Annotated[str, Field(description="Exact, such as 4 or 7/3.")]
    delta: str
    meaning: str
    prior: Annotated[float, Field(description="How sure an attacker is of a guess before the round.")]
    posterior: Annotated[float, Field(description="How sure the attacker can be afterwards, at most.")]
    failure_probability: Annotated[str, Field(description="The probability that this bound fails.")]
    unit: str
    neighbours: str


class PromiseAnswer(BaseModel):
    """A campaign's promise, in words and as exact text."""

    groups: list[GroupPromise]
    exposure: Annotated[str, Field(description="How many records that only one user has a round may list, in words.")]
    warnings: Annotated[list[str], Field(description="Why the promise is weak; empty if it is not.")]
    parameters: Annotated[dict[str, str], Field(description="Every setting of the campaign, as exact text.")]


class FindingShown(BaseModel):
    """The exact worst case of one mechanism against its claim."""

    mechanism: str
    claimed_epsilon: str
    claimed_delta: str
    worst_epsilon: Annotated[float | None, Field(description="Rounded up; null: unbounded.")]
    exact_delta: Annotated[str, Field(description="The divergence at the claimed ε, rounded up.")]
    verdict: Literal["holds", "violated"]


class AuditAnswer(BaseModel):
    """The audit of the integers in use, for the newest list; null: for an empty list, because there is none yet."""

    head_list: Digest | None
    findings: list[FindingShown]


class InvitationShown(BaseModel):
    """An invitation to a campaign: as a link, as the content of a file, and the link as a QR code."""

    link: str
    invitation: Invitation
    qr_code: Annotated[str, Field(description="SVG, black on white.")]


class BudgetLeft(BudgetLine):
    """A line of the budget, and how many more rounds it allows."""

    rounds_left: Annotated[int | None, Field(description="Counted up to 1000; null: any number.")]


class StepShown(BaseModel):
    """A step that the operator can take now, what it spends, and what cannot be undone."""

    step: Event
    says: str


class CampaignOverview(BaseModel):
    """A campaign as its operator watches it."""

    id: Identifier
    name: str
    round: RoundAnswer | None
    meaning: Annotated[str | None, Field(description="What the state of the round means.")]
    opt_in_users: Annotated[int | None, Field(description="Those who contributed to the open round, as last counted.")]
    reports: Annotated[int | None, Field(description="Reports of a round that is listed or closed, as last counted.")]
    steps: list[StepShown]
    budget: list[BudgetLeft]
    rounds_left: Annotated[int | None, Field(description="What the strictest limit allows; null: any number.")]


class Overview(BaseModel):
    """Everything that an operator watches, in one response that is cheap enough to poll every two seconds."""

    now: Annotated[int, Field(description="The collector's clock, in seconds since 1970.")]
    health: Annotated[dict[str, str], Field(description="`ok`, or the problem, of each part.")]
    free_bytes: int
    reports_stored: Annotated[float, Field(description="Since the collector started, duplicates included.")]
    reports_refused: Annotated[dict[str, float], Field(description="Since the collector started, by reason.")]
    campaigns: list[CampaignOverview]
