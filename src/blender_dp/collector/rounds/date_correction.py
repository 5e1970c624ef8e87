"""Corrects dates that a fast clock has put into the future.

The ledger's dates never decrease, so that a clock that is set back cannot make an expense look older than it is. After a
clock ran fast, this would keep a campaign's period limits in force until the wrong date.
"""

from __future__ import annotations

from blender_dp.collector.rounds.clock import HOUR_SECONDS
from blender_dp.collector.rounds.ledger import Ledger
from blender_dp.collector.secrets.ledger_journal import DatedEntry, Journal
from blender_dp.collector.storage import event_rows, ledger_rows
from blender_dp.collector.storage.store import Store


def redate(store: Store, journal: Journal, now: float) -> int:
    """Change every date in the future to now; return how many entries of the ledger had one.

    All expenses were made before now, so this date is late enough for every limit, if the clock is right. A crash in between
    leaves the later of the two dates in force; repeating the correction completes it.
    """
    latest = (int(now) // HOUR_SECONDS + 1) * HOUR_SECONDS
    with store.write("redate") as transaction:
        entries = Ledger(journal).catch_up(transaction)
        ledger_rows.redate(transaction, latest)
        event_rows.redate(transaction, latest)
        journal.replace([DatedEntry(min(one.at, latest), one.entry) for one in entries])
    return sum(one.at > latest for one in entries)
