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

GROUPS = ("opt-in", "client")
"""Who spends, in the order of a collection's promises."""


def over_limit(connection: Connection, campaign: str, settings: CampaignSettings, now: float) -> str | None:
    """Why a campaign may not spend on another round; None if it may. Both groups' users are charged by a round."""
    since = now - (settings.period_days or 0) * DAY_SECONDS - ROUNDED_SECONDS  # when it was spent, give or take an hour
    for group, promise in zip(GROUPS, settings.collection().promises(), strict=True):
        spent = [*_spent(connection, campaign, group), promise.loss]
        lately = [*_spent(connection, campaign, group, since), promise.loss]
        for what, total, most in (
            ("ε", ledger.composed(spent), settings.max_epsilon),
            ("δ", float(sum(loss.delta for loss in spent)), settings.max_delta),
            (f"ε of {settings.period_days} days", ledger.composed(lately), settings.period_epsilon),
        ):
            if most is not None and total > Fraction(most):
                return f"the budget of {group} users is used up: {what} would be {total:.3g}, and {most} is the most"
    return None


def _spent(connection: Connection, campaign: str, group: str, since: float | None = None) -> list[Loss]:
    """What a group has spent in a campaign's rounds, all of them or those frozen since a time."""
    entries = (
        sa.select(ledger_table.c.entry)
        .join(rounds, rounds.c.id == ledger_table.c.round)
        .where(rounds.c.campaign == campaign, ledger_table.c.user_group == group)
        .order_by(ledger_table.c.number)
    )
    if since is not None:
        frozen = sa.select(events.c.round).where(events.c.what == "frozen", events.c.at >= int(since))
        entries = entries.where(rounds.c.id.in_(frozen))
    return [ledger.parse(entry).loss for entry in connection.scalars(entries)]


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
