"""The settings of a campaign, validated once."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from blender_dp.errors import BlenderError
from blender_dp.parameters import Parameters
from blender_dp.parameters.campaign import CAMPAIGN_PARAMETERS, DEFAULTS
from blender_dp.pipeline.collection import Collection
from blender_dp.privacy.limits import Weakness, exposure_statement, weaknesses
from blender_dp_device.entropy import system_bytes
from blender_dp_device.records.head_list import HeadList

DAY_SECONDS = 86_400
_PEOPLE = 10**12  # more than exist

_DECIMAL = r"[0-9]{1,9}(\.[0-9]{1,30})?(e-?[0-9]{1,2})?"

Decimal = Annotated[str, Field(pattern=f"^{_DECIMAL}$", max_length=40)]
"""A decimal number as text, so that ε and δ stay exact."""

UNLIMITED = "unlimited"

Limit = Annotated[str, Field(pattern=f"^({UNLIMITED}|{_DECIMAL})$", max_length=40)]
"""A limit as text, or the word `unlimited`."""


CampaignName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
"""A campaign's name, or its id: an id has the same characters, and no name is 32 hexadecimal digits."""

_STORED = "stored"
_ID = re.compile(r"[0-9a-f]{32}")


def is_id(name: str) -> bool:
    """Whether this is the id of a campaign rather than its name."""
    return _ID.fullmatch(name) is not None


def new_id() -> str:
    """A new id for a campaign or a round."""
    return system_bytes(16).hex()


class CampaignSettings(BaseModel):
    """A campaign's promise and its limits. They never change: another promise is another campaign."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: CampaignName
    epsilon: Decimal
    delta: Decimal
    max_queries: Annotated[int, Field(ge=1, le=10_000)] = Parameters.max_queries
    f_o: Decimal = str(Parameters.f_o)
    expected_clients: Annotated[int, Field(ge=2, le=_PEOPLE)] = DEFAULTS.expected_clients
    min_opt_in: Annotated[int, Field(ge=4, le=_PEOPLE)] = DEFAULTS.min_opt_in
    min_reports: Annotated[int, Field(ge=2, le=_PEOPLE)] = DEFAULTS.min_reports
    max_epsilon: Limit
    """No round starts that would raise the composed ε of either group in this campaign above this.

    A decimal number, or `unlimited`: then nothing bounds what the rounds reveal about an opt-in user.
    """
    max_delta: Decimal | None = None
    """The same limit for the sum of δ."""
    period_epsilon: Decimal | None = None
    """The same limit for the ε of the rounds of the last `period_days`."""
    period_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    list_days: Annotated[int, Field(ge=1, le=3_650)] = DEFAULTS.list_days
    """The list of a round without a closing time expires after this many days: devices stop reporting."""
    allow_weak_privacy: bool = Parameters.allow_weak_privacy
    """Allow ε above 20, and δ of 1 / opt-in users or more. Every release says so."""
    keep_reports_days: Annotated[int, Field(ge=0, le=36_500)] = DEFAULTS.keep_reports_days
    """Keep a round's reports for this many days after its release. By default they are deleted at once."""

    @field_validator("name")
    @classmethod
    def _is_not_an_id(cls, name: str) -> str:
        if is_id(name):
            raise ValueError("looks like a campaign's id (32 hexadecimal digits): choose another name")
        return name

    @model_validator(mode="after")
    def _check_consistency(self, info: ValidationInfo) -> Self:
        if (self.period_epsilon is None) != (self.period_days is None):
            raise ValueError("period_epsilon and period_days must be set together")
        try:
            self.collection()
        except BlenderError as error:
            raise ValueError(str(error)) from None
        for most, one in (("max_epsilon", "epsilon"), ("max_delta", "delta"), ("period_epsilon", "epsilon")):
            limit = limit_of(getattr(self, most))
            if limit is not None and limit < Fraction(getattr(self, one)):
                raise ValueError(f"{most} is less than {one}: no round could start")
        if self.min_opt_in * Fraction(self.f_o) < Fraction(1, 2):
            raise ValueError("min_opt_in times f_o is less than a half: the discovery group might be empty")
        if info.context != _STORED and (problem := self.too_weak(self.min_opt_in)):
            raise ValueError(problem)
        return self

    def weaknesses(self, opt_in_users: int) -> tuple[Weakness, ...]:
        """The weaknesses of the promise to this many opt-in users."""
        return weaknesses(Fraction(self.epsilon), Fraction(self.delta), opt_in_users)

    def too_weak(self, opt_in_users: int) -> str | None:
        """Why the promise to this many opt-in users is refused; None if it is not, or if weak privacy is allowed.

        A δ that is small enough for `min_opt_in` users may be too large for more, so every list is checked as well.
        """
        if self.allow_weak_privacy:
            return None
        return next((str(one) for one in self.weaknesses(opt_in_users) if one.is_refused), None)

    @classmethod
    def stored(cls, text: str) -> Self:
        """Read settings from the database. Early campaigns could omit the limit, and could have weak privacy."""
        values = json.loads(text)
        read = {**values, "max_epsilon": values.get("max_epsilon") or UNLIMITED}
        return cls.model_validate(read, context=_STORED)  # weak privacy is refused when a list is to be made

    def exposure(self) -> str:
        """How many records a round with the minimum number of opt-in users may expose, in words."""
        return exposure_statement(Fraction(self.delta), round(self.min_opt_in * Fraction(self.f_o)))

    def collection(self, candidates: HeadList | None = None) -> Collection:
        """The collection that every round of the campaign runs."""
        values = {name: getattr(self, name) for name in CAMPAIGN_PARAMETERS}
        return Collection(Parameters(**values, candidates=candidates))


def limit_of(text: str | None) -> Fraction | None:
    """A limit as a number; None if unlimited."""
    return None if text in {None, UNLIMITED} else Fraction(text)
