"""What rounds spend: entries of the ledger, and the limits that a campaign has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy.engine import Connection

from blender_dp.collector.campaign import DAY_SECONDS, CampaignSettings
from blender_dp.collector.rounds.budget import budgets
from blender_dp.collector.secrets import ledger_chain as ledger
from blender_dp.collector.secrets.ledger_journal import Journal, Spent, add, catch_up
from blender_dp.collector.storage.store import Store
from blender_dp.privacy.loss import Loss
from blender_dp.privacy.rounding import rounded_up

_WORDS = {"max_epsilon": "ε", "max_delta": "δ", "period_epsilon": "ε of {days} days"}


_REDATE = "; the ledger has dates in the future: if a clock was wrong, correct them with blender-dp serve --correct-dates"


def over_limit(
    entries: Sequence[Spent], campaign: str, settings: CampaignSettings, now: float, ends: Mapping[str, int]
) -> str | None:
    """Why a campaign may not spend on another round; None if it may."""
    for one in budgets(entries, campaign, settings, now, ends):
        if one.is_exceeded:
            what, most = _WORDS[one.limit].format(days=settings.period_days), getattr(settings, one.limit)
            total = rounded_up(one.after, 4)
            problem = f"the budget of {one.group} users is used up: {what} would be {total}, and {most} is the most"
            return problem + _REDATE * any(entry.at > now + DAY_SECONDS for entry in entries)
    return None


def is_spent(entries: Iterable[Spent], name: str, group: str) -> bool:
    """Whether a group has spent in a round."""
    return any((one.entry.round, one.entry.group) == (name, group) for one in entries)


def spend(
    store: Store,
    journal: Journal,
    connection: Connection,
    row: Any,  # noqa: ANN401 (a round's)
    group: str,
    loss: Loss,
    now: int,
) -> None:
    """Write into the ledger what a group spends in a round, as a part of the transaction in which it does.

    It may be there already: the journal had it, and the transaction before was interrupted.
    """
    entries = catch_up(store, connection, journal)
    if is_spent(entries, row.id, group):
        return
    last = entries[-1] if entries else None
    entry = ledger.Entry(
        number=len(entries) + 1,
        campaign=row.campaign,
        round=row.id,
        group=group,
        epsilon=str(loss.epsilon),
        delta=str(loss.delta),
        before=last.entry.digest if last else ledger.START,
    )
    # A clock that has gone back must not date it before its period.
    add(connection, journal, Spent(max(now, last.at if last else now), entry))
