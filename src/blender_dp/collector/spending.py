"""What rounds spend: entries of the ledger, and the limit that a campaign has."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from blender_dp.collector import ledger
from blender_dp.collector.campaign import DAY_SECONDS, CampaignSettings
from blender_dp.collector.contributions import ROUNDED_SECONDS
from blender_dp.collector.schema import events, rounds
from blender_dp.collector.schema import ledger as ledger_table
from blender_dp.collector.store import Store
from blender_dp.privacy.loss import Loss


def over_limit(connection: Connection, campaign: str, settings: CampaignSettings, now: float) -> str | None:
    """Why a campaign may not spend on another round; None if it may."""
    if settings.max_epsilon is None:
        return None
    entries = (
        sa.select(ledger_table.c.entry)
        .join(rounds, rounds.c.id == ledger_table.c.round)
        .where(rounds.c.campaign == campaign, ledger_table.c.user_group == "opt-in")
        .order_by(ledger_table.c.number)
    )
    if settings.period_days is not None:  # since it was spent, not since the round was opened; give or take an hour
        since = now - settings.period_days * DAY_SECONDS - ROUNDED_SECONDS
        frozen = sa.select(events.c.round).where(events.c.what == "frozen", events.c.at >= int(since))
        entries = entries.where(rounds.c.id.in_(frozen))
    losses = [ledger.parse(entry).loss for entry in connection.scalars(entries)]
    total = ledger.composed([*losses, settings.collection().promises()[0].loss])
    limit = float(Fraction(settings.max_epsilon))
    return f"the budget is used up: ε would be {total:.3g}, and {limit:g} is the most" if total > limit else None


def spend(store: Store, connection: Connection, row: Any, group: str, loss: Loss) -> None:  # noqa: ANN401 (a round's)
    """Write into the ledger what a group spends in a round, as a part of the transaction in which it does."""
    store.hold(connection, "ledger")
    last = connection.execute(
        sa.select(ledger_table.c.number, ledger_table.c.digest).order_by(ledger_table.c.number.desc()).limit(1)
    ).one_or_none()
    entry = ledger.Entry(
        number=(last.number if last else 0) + 1,
        campaign=row.campaign,
        round=row.id,
        group=group,
        epsilon=str(loss.epsilon),
        delta=str(loss.delta),
        before=last.digest if last else ledger.START,
    )
    connection.execute(
        ledger_table.insert(),
        {
            "number": entry.number,
            "round": row.id,
            "user_group": group,
            "entry": entry.text(),
            "digest": entry.digest,
        },
    )
