"""What is deleted once nothing needs it: reports after the release or the abort, and keys that no round needs."""

from __future__ import annotations

import sqlalchemy as sa

from blender_dp.collector.campaign import DAY_SECONDS, CampaignSettings
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.storage.schema import campaigns, events, reports, rounds
from blender_dp.collector.storage.store import Store

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
    days = [CampaignSettings.stored(row.settings).keep_reports_days for row in found]
    # What is not kept at all goes whatever the clock said at the release: it may have been wrong.
    return [row.id for row, kept in zip(found, days, strict=True) if not kept or row.at + kept * DAY_SECONDS <= now]


def destroy_left_keys(store: Store, keys: KeyFolder, strange: dict[str, float], now: float) -> None:
    """Destroy the keys whose rounds need them no more, or never came to be: a crash may have come between.

    A key without a round is left until we have known it as `strange` for a day, since when is kept there: its round may be
    opened just now, or an old database may have been put back by mistake, and the right one may come back. A database
    without any round is not believed at all.
    """
    with store.read() as connection:
        states = {row.id: row.state for row in connection.execute(sa.select(rounds.c.id, rounds.c.state))}
    names = keys.names()
    for name in strange.keys() - (set(names) - states.keys()):
        del strange[name]
    for name in names:
        if name in states:
            is_left = states[name] not in {"open", "listing"}
        else:
            is_left = bool(states) and strange.setdefault(name, now) + DAY_SECONDS <= now
        if is_left:
            keys.destroy(name)
