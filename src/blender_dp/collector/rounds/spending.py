"""Whether a campaign may spend privacy budget on a round. Pure functions of the ledger's entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from blender_dp.collector.campaign import DAY_SECONDS, CampaignSettings
from blender_dp.collector.rounds.budget import budgets
from blender_dp.collector.secrets.ledger_journal import DatedEntry
from blender_dp.collector.storage.round_rows import Round
from blender_dp.privacy.rounding import rounded_up

_WORDS = {"max_epsilon": "ε", "max_delta": "δ", "period_epsilon": "ε of {days} days"}
_REDATE = "; the ledger has dates in the future: if a clock was wrong, correct them with blender-dp serve --correct-dates"


def is_spent(entries: Iterable[DatedEntry], round_id: str, group: str) -> bool:
    """Whether a group has spent in a round."""
    return any((one.entry.round, one.entry.group) == (round_id, group) for one in entries)


def over_limit(
    entries: Sequence[DatedEntry], campaign: str, settings: CampaignSettings, now: float, ends: Mapping[str, int]
) -> str | None:
    """Why a campaign may not spend on another round; None if it may."""
    for one in budgets(entries, campaign, settings, now, ends):
        if one.is_exceeded:
            what, limit = _WORDS[one.limit].format(days=settings.period_days), getattr(settings, one.limit)
            total = rounded_up(one.after, 4)
            problem = f"the budget of {one.group} users is used up: {what} would be {total}, and the maximum is {limit}"
            return problem + _REDATE * any(entry.at > now + DAY_SECONDS for entry in entries)
    return None


def may_not_list(
    entries: Sequence[DatedEntry], one: Round, settings: CampaignSettings, now: float, ends: Mapping[str, int]
) -> str | None:
    """Why the budget of a round's opt-in users may not be spent; None if it may."""
    if is_spent(entries, one.id, "client"):  # the list may be public: another one would cost as much again
        return "the list of this round was made before the database was restored: abort the round"
    if is_spent(entries, one.id, "opt-in"):  # by a transaction that was interrupted: nothing came of it
        return None
    return over_limit(entries, one.campaign, settings, now, ends)
