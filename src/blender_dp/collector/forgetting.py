"""What is deleted once nothing needs it: reports after the release or the abort, and keys that no round needs."""

from __future__ import annotations

import sqlalchemy as sa

from blender_dp.collector.campaign import DAY_SECONDS, CampaignSettings
from blender_dp.collector.keys import KeyFolder
from blender_dp.collector.schema import campaigns, events, reports, rounds
from blender_dp.collector.store import Store

_FORGOTTEN = 10_000  # reports in one transaction: others who write do not wait long
_TOLD = sa.exists().where(reports.c.round == rounds.c.id)


def forget_reports(store: Store, now: float) -> int:
    """Delete the reports of rounds that were released long enough ago, or aborted, little by little; return how many."""
    gone = 0
    for name in [*_aborted(store), *_with_old_reports(store, now)]:
        some = sa.select(reports.c.id).where(reports.c.round == name).limit(_FORGOTTEN)
        deleted = _FORGOTTEN
        while deleted == _FORGOTTEN:  # a crash in between leaves the rest for the next time
            with store.write("forget") as connection:
                chosen = reports.c.id.in_(some.scalar_subquery())
                deleted = connection.execute(reports.delete().where(reports.c.round == name, chosen)).rowcount
            gone += deleted
    if gone:
        store.forget_deleted()
    return gone


def _aborted(store: Store) -> list[str]:
    with store.read() as connection:
        return list(connection.scalars(sa.select(rounds.c.id).where(rounds.c.state == "aborted", _TOLD)))


def _with_old_reports(store: Store, now: float) -> list[str]:
    chosen = (
        sa.select(rounds.c.id, events.c.at, campaigns.c.settings)
        .join(events, sa.and_(events.c.round == rounds.c.id, events.c.what == "released"))
        .join(campaigns, campaigns.c.id == rounds.c.campaign)
        .where(rounds.c.state == "released", _TOLD)
    )
    with store.read() as connection:
        found = connection.execute(chosen).all()
    days = [CampaignSettings.model_validate_json(row.settings).keep_reports_days for row in found]
    return [row.id for row, kept in zip(found, days, strict=True) if row.at + kept * DAY_SECONDS <= now]


def destroy_left_keys(store: Store, keys: KeyFolder, now: float) -> None:
    """Destroy the keys whose rounds need them no more, or never came to be: a crash may have come between.

    A key without a round may be of one that is being opened just now, so it is left for a day. A database without any
    round is not believed: somebody may have started a collector on another one by mistake.
    """
    with store.read() as connection:
        needed = set(connection.scalars(sa.select(rounds.c.id).where(rounds.c.state.in_(("open", "listing")))))
        known = set(connection.scalars(sa.select(rounds.c.id)))
    for name in keys.names():
        if (name in known and name not in needed) or (known and name not in known and _is_old(keys, name, now)):
            keys.destroy(name)


def _is_old(keys: KeyFolder, name: str, now: float) -> bool:
    made = keys.made_at(name)
    return made is not None and made + DAY_SECONDS <= now
