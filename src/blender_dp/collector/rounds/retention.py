"""Deletes what nothing needs any more: reports after a release or an abort, and keys of raw records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from blender_dp.collector.rounds import rules
from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.storage import report_rows, round_rows
from blender_dp.collector.storage.store import Store

_DELETED = 10_000  # reports in one transaction, so that other writers do not wait long


@dataclass(eq=False)
class Retention:
    """Deletes reports and keys."""

    store: Store
    keys: KeyFolder
    clock: Clock
    keys_without_round: dict[str, float] = field(default_factory=dict)
    """Keys that belong to no round, and since when that is known."""

    def delete_reports(self, stopping: Callable[[], bool] = lambda: False) -> int:
        """Delete the reports of rounds that were aborted or released long enough ago, batch by batch; return how many.

        Millions of reports take minutes, and a collector that is `stopping` must not wait for that: the next call goes on.
        """
        with self.store.read() as transaction:
            ended = report_rows.ended_rounds_with_reports(transaction)
        now = self.clock.now()
        total = sum(self._delete_reports_of(one.id, stopping) for one in ended if rules.may_delete_reports(one, now))
        if total:
            self.store.purge_deleted()
        return total

    def destroy_unneeded_keys(self) -> None:
        """Destroy the keys that no round needs: a crash may have come between a step and its cleanup."""
        with self.store.read() as transaction:
            states = round_rows.states(transaction)
        names, now = self.keys.names(), self.clock.now()
        self.keys_without_round = rules.keys_without_round(names, states, self.keys_without_round, now)
        for name in rules.unneeded_keys(names, states, self.keys_without_round, now):
            self.keys.destroy(name)

    def _delete_reports_of(self, round_id: str, stopping: Callable[[], bool]) -> int:
        total, deleted, last = 0, _DELETED, b""
        while deleted == _DELETED and not stopping():  # a crash in between leaves the rest for the next call
            with self.store.write("forget") as transaction:
                ids = report_rows.delete_some(transaction, round_id, _DELETED, last)
            deleted, last = len(ids), max(ids, default=last)
            total += deleted
        return total
