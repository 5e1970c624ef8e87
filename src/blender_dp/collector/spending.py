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
    """What a group has spent in a campaign's rounds, all of them or those that did since a time."""
    chosen = sa.select(ledger_table.c.entry).where(ledger_table.c.campaign == campaign, ledger_table.c.user_group == group)
    if since is not None:
        chosen = chosen.where(ledger_table.c.at >= int(since))
    return [ledger.parse(entry).loss for entry in connection.scalars(chosen.order_by(ledger_table.c.number))]


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
    # Entries of the journal may be younger than anything that a backup knows of.
    add(connection, journal, Spent(max(now, last.at if last else now), entry))
