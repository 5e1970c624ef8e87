"""What rounds spend: entries of the ledger, and the limit that a campaign has."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from blender_dp.collector import ledger
from blender_dp.collector.campaign import DAY_SECONDS, CampaignSettings
from blender_dp.collector.contributions import ROUNDED_SECONDS
from blender_dp.collector.journal import Journal, Spent, add, catch_up
from blender_dp.collector.schema import ledger as ledger_table
from blender_dp.collector.store import Store
from blender_dp.privacy.loss import Loss


def over_limit(connection: Connection, campaign: str, settings: CampaignSettings, now: float) -> str | None:
    """Why a campaign may not spend on another round; None if it may."""
    if settings.max_epsilon is None:
        return None
    entries = (
        sa.select(ledger_table.c.entry)
        .where(ledger_table.c.campaign == campaign, ledger_table.c.user_group == "opt-in")
        .order_by(ledger_table.c.number)
    )
    if settings.period_days is not None:  # since it was spent, not since the round was opened; give or take an hour
        since = now - settings.period_days * DAY_SECONDS - ROUNDED_SECONDS
        entries = entries.where(ledger_table.c.at >= int(since))
    losses = [ledger.parse(entry).loss for entry in connection.scalars(entries)]
    total = ledger.composed([*losses, settings.collection().promises()[0].loss])
    limit = float(Fraction(settings.max_epsilon))
    return f"the budget is used up: ε would be {total:.3g}, and {limit:g} is the most" if total > limit else None


def is_spent(connection: Connection, name: str, group: str) -> bool:
    """Whether the ledger says that a group has spent in a round."""
    known = sa.select(ledger_table.c.number).where(ledger_table.c.round == name, ledger_table.c.user_group == group)
    return connection.scalar(known) is not None


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
    if is_spent(connection, row.id, group):
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
    # A clock that goes back must not date what is spent before the period that it counts in.
    add(connection, journal, Spent(max(now, last.at if last else now), entry))
