"""What rounds spend: entries of the ledger, and the limits that a campaign has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from sqlalchemy.engine import Connection

from blender_dp.collector import ledger
from blender_dp.collector.campaign import DAY_SECONDS, CampaignSettings, limit_of
from blender_dp.collector.contributions import ROUNDED_SECONDS
from blender_dp.collector.journal import Journal, Spent, add, catch_up
from blender_dp.collector.store import Store
from blender_dp.privacy.loss import Loss

GROUPS = ("opt-in", "client")
"""Who spends, in the order of a collection's promises."""


def over_limit(
    entries: Iterable[Spent], campaign: str, settings: CampaignSettings, now: float, ends: Mapping[str, int]
) -> str | None:
    """Why a campaign may not spend on another round; None if it may. Both groups' users are charged by a round.

    Opt-in users spend when the list is made, clients until their round `ends`; if nobody knows when, until its list did.
    """
    since = now - (settings.period_days or 0) * DAY_SECONDS - ROUNDED_SECONDS  # when it was spent, give or take an hour
    own = [one for one in entries if one.entry.campaign == campaign]
    lifetime = settings.list_days * DAY_SECONDS
    for group, promise in zip(GROUPS, settings.collection().promises(), strict=True):
        spent = [one for one in own if one.entry.group == group]
        lately = [one for one in spent if (one.at if group == "opt-in" else _until(one, ends, lifetime)) >= since]
        before, recent = ([*(one.entry.loss for one in some), promise.loss] for some in (spent, lately))
        for what, total, most in (
            ("ε", ledger.composed(before), settings.max_epsilon),
            ("δ", sum((loss.delta for loss in before), Fraction(0)), settings.max_delta),
            (f"ε of {settings.period_days} days", ledger.composed(recent), settings.period_epsilon),
        ):
            limit = limit_of(most)
            if limit is not None and total > limit:
                return f"the budget of {group} users is used up: {what} would be {float(total):.4g}, and {most} is the most"
    return None


def _until(one: Spent, ends: Mapping[str, int], lifetime: int) -> int:
    """Until when clients may have spent. An end before the beginning is of a clock that went back: nobody knows it."""
    end = ends.get(one.entry.round, -1)
    return end if end >= one.at else one.at + lifetime


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
