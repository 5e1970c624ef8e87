"""Finding rounds."""

from __future__ import annotations

from dataclasses import dataclass

from blender_dp.collector.storage import event_rows, report_rows, round_rows
from blender_dp.collector.storage.event_rows import Event
from blender_dp.collector.storage.round_rows import ListedRound, Round
from blender_dp.collector.storage.store import Store


@dataclass(frozen=True)
class History:
    """A round, what happened to it, and whether the collector still stores reports of it."""

    round: ListedRound
    events: tuple[Event, ...]
    has_reports: bool


@dataclass(eq=False)
class Lookup:
    """Finds rounds by their ids, campaigns and events. A campaign is given by its name or its id."""

    store: Store

    def round(self, round_id: str) -> Round:
        """The current row of a round."""
        with self.store.read() as transaction:
            return round_rows.get(transaction, round_id)

    def opened(self, campaign: str | None = None, before: str | None = None, limit: int = 100) -> list[ListedRound]:
        """The latest rounds of one campaign or of all, newest first; only those opened `before` another, if that is set."""
        with self.store.read() as transaction:
            return round_rows.latest_opened(transaction, campaign, before, limit)

    def under_way(self) -> list[Round]:
        """All unfinished rounds."""
        with self.store.read() as transaction:
            return round_rows.under_way(transaction)

    def current(self, campaign: str | None = None) -> Round | None:
        """The newest round of one campaign, or of all."""
        with self.store.read() as transaction:
            return round_rows.newest(transaction, "opened", campaign)

    def newest_release(self, campaign: str | None = None) -> Round | None:
        """The newest released round of one campaign, or of all."""
        with self.store.read() as transaction:
            return round_rows.newest(transaction, "released", campaign)

    def released(self, campaign: str, limit: int) -> list[Round]:
        """The latest released rounds of one campaign, oldest first."""
        with self.store.read() as transaction:
            return round_rows.released(transaction, campaign, limit)

    def history(self, campaign: str, before: str | None, limit: int) -> list[History]:
        """The latest rounds of one campaign with their events, newest first; only those opened `before` another."""
        with self.store.read() as transaction:
            latest = round_rows.latest_opened(transaction, campaign, before, limit)
            ids = [one.id for one in latest]
            happened, holding = event_rows.of_rounds(transaction, ids), report_rows.have_reports(transaction, ids)
        return [History(one, tuple(happened[one.id]), one.id in holding) for one in latest]
