"""A remedy for a clock that ran ahead.

The ledger's dates never go back, so that a clock that is set back cannot make what was spent look older than it is. After a
clock that ran ahead, this would keep a campaign's period limits in force until the wrong date.
"""

from __future__ import annotations

from blender_dp.collector.rounds.contributions import ROUNDED_SECONDS
from blender_dp.collector.secrets.ledger_journal import Journal, Spent, catch_up
from blender_dp.collector.storage.schema import events
from blender_dp.collector.storage.schema import ledger as ledger_table
from blender_dp.collector.storage.store import Store


def redate(store: Store, journal: Journal, now: float) -> int:
    """Date as of now whatever is dated in the future; how many entries of the ledger that were.

    What is in the ledger was spent before now, whenever that was, so this date is late enough for every limit, if the clock
    is right. A crash in between leaves the later date of the two in force; doing it again completes it.
    """
    latest = (int(now) // ROUNDED_SECONDS + 1) * ROUNDED_SECONDS
    with store.write("redate") as connection:
        entries = catch_up(store, connection, journal)
        for table in (ledger_table, events):
            connection.execute(table.update().where(table.c.at > latest).values(at=latest))
        journal.replace([Spent(min(one.at, latest), one.entry) for one in entries])
    return sum(one.at > latest for one in entries)
