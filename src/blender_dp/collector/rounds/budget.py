"""What a campaign has spent against each of its limits, and what it would have spent after one more round."""

from __future__ import annotations

import decimal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from blender_dp.collector.campaign import DAY_SECONDS, CampaignSettings, limit_of
from blender_dp.collector.round_states import GROUPS, Group
from blender_dp.collector.rounds.clock import HOUR_SECONDS
from blender_dp.collector.secrets.ledger_journal import DatedEntry
from blender_dp.privacy.composition import composed
from blender_dp.privacy.loss import Loss

LimitName = Literal["max_epsilon", "max_delta", "period_epsilon"]

_DIGITS = 12


@dataclass(frozen=True)
class Budget:
    """What one group of users has spent against one limit of a campaign."""

    group: Group
    limit: LimitName
    losses: tuple[Loss, ...]
    """What was spent so far, round by round."""
    next: Loss
    """What one more round would spend."""
    most: Fraction | None
    """None: unlimited."""

    @property
    def spent(self) -> Fraction:
        """What all rounds so far have spent together."""
        return self._total(self.losses)

    @property
    def after(self) -> Fraction:
        """What all rounds so far and one more would spend together."""
        return self._total((*self.losses, self.next))

    @property
    def is_exceeded(self) -> bool:
        """Whether one more round would exceed the limit."""
        return self.most is not None and self.after > self.most

    def rounds_left(self, maximum: int) -> int | None:
        """How many more rounds the limit allows, counted up to `maximum`; None if it allows any number."""
        if self.most is None or not self._total((self.next,)):
            return None
        allowed, refused = 0, maximum + 1
        while refused - allowed > 1:
            middle = (allowed + refused) // 2
            fits = self._total((*self.losses, *[self.next] * middle)) <= self.most
            allowed, refused = (middle, refused) if fits else (allowed, middle)
        return allowed

    def _total(self, losses: tuple[Loss, ...]) -> Fraction:
        return sum((one.delta for one in losses), Fraction(0)) if self.limit == "max_delta" else _composed(losses)


def budgets(
    entries: Iterable[DatedEntry], campaign: str, settings: CampaignSettings, now: float, ends: Mapping[str, int]
) -> list[Budget]:
    """All limits of a campaign, for each group: a round charges both.

    Opt-in users spend when the list is made, clients until their round `ends`; if that is unknown, until its list expires.
    """
    since = now - (settings.period_days or 0) * DAY_SECONDS - HOUR_SECONDS  # stored times are rounded down to the hour
    own = [one for one in entries if one.entry.campaign == campaign]
    lifetime = settings.list_days * DAY_SECONDS
    result: list[Budget] = []
    for group, loss in zip(GROUPS, _losses(settings), strict=True):
        spent = [one for one in own if one.entry.group == group]
        recent = [one for one in spent if (one.at if group == "opt-in" else _until(one, ends, lifetime)) >= since]
        limits: list[tuple[LimitName, list[DatedEntry], str | None]] = [
            ("max_epsilon", spent, settings.max_epsilon),
            ("max_delta", spent, settings.max_delta),
        ]
        if settings.period_epsilon is not None:
            limits.append(("period_epsilon", recent, settings.period_epsilon))
        result += [
            Budget(group, name, tuple(one.entry.loss for one in some), loss, limit_of(most)) for name, some, most in limits
        ]
    return result


def rounded(value: Fraction, *, up: bool) -> str:
    """A decimal number of twelve digits, rounded up (what was spent) or down (what is left)."""
    context = decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR)
    quotient = context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
    return format(quotient.normalize(context), "f")


def _until(one: DatedEntry, ends: Mapping[str, int], lifetime: int) -> int:
    """Until when clients may have spent. An end before the start comes from a clock that was set back, and is ignored."""
    end = ends.get(one.entry.round, -1)
    return end if end >= one.at else one.at + lifetime


@lru_cache(maxsize=1024)
def _composed(losses: tuple[Loss, ...]) -> Fraction:
    """Cached: composition takes up to a second, and anyone may ask for a campaign's budget."""
    return composed(losses)


@lru_cache(maxsize=256)
def _losses(settings: CampaignSettings) -> tuple[Loss, ...]:
    return tuple(promise.loss for promise in settings.collection().promises())
