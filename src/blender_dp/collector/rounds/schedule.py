"""The work that is due: scheduled steps, lists and releases, including those that a crash interrupted."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from blender_dp.collector.monitoring.log_lines import LOG, about
from blender_dp.collector.round_states import WORKED_ON
from blender_dp.collector.rounds import rules
from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.rounds.lifecycle import Lifecycle
from blender_dp.collector.rounds.list_maker import ListMaker
from blender_dp.collector.rounds.lookup import Lookup
from blender_dp.collector.rounds.release_maker import ReleaseMaker
from blender_dp.collector.rounds.retention import Retention
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.secrets.round_endings import Endings
from blender_dp.collector.storage.database_errors import DatabaseError
from blender_dp.collector.storage.report_counting import Counting
from blender_dp.collector.storage.round_rows import Round
from blender_dp.collector.storage.store import Store
from blender_dp.errors import BlenderError, StateError


@dataclass(eq=False)
class Schedule:
    """Does the work that is due."""

    store: Store
    keys: KeyFolder
    endings: Endings
    clock: Clock
    lookup: Lookup
    lifecycle: Lifecycle
    lists: ListMaker
    releases: ReleaseMaker
    retention: Retention
    counting: Counting

    def advance_due(self) -> list[str]:
        """Advance every round that can advance, and clean up; return the ids of the rounds that were under way."""
        now, under_way = self.clock.now(), self.lookup.under_way()
        failures: list[Exception] = []
        for one in under_way:
            try:
                self._advance(one, now)
            except Exception as error:  # noqa: BLE001 (raised below: a round that is stuck must not block the others)
                failures.append(error)
                with about(one.id):
                    LOG.error("the round does not advance: %s", type(error).__name__)
                with suppress(DatabaseError):  # a database that fails cannot store the problem either
                    self.lifecycle.note_problem(one, _problem(error))
        self.retention.destroy_unneeded_keys()
        self.counting.clean()
        if failures:
            raise failures[0]
        return [one.id for one in under_way]

    def _advance(self, one: Round, now: float) -> None:
        if self._abort_if_ended(one.id):
            return
        if one.state == "open" and (problem := rules.lost_key(has_key=self.keys.has(one.id))):
            self.lifecycle.note_problem(one, problem)
        event = rules.due_event(one, now, self.clock.hour())
        if event == "freeze":
            self.lifecycle.freeze(one.id, scheduled=True)
        elif event == "close":
            self.lifecycle.close(one.id, scheduled=True)
        if self.lookup.round(one.id).state in WORKED_ON:
            with self.store.claim(one.id) as claim:  # this takes long, and other collectors would do it in vain
                if claim:
                    self.lists.make(one.id, claim)
                    self.releases.make(one.id, claim)

    def _abort_if_ended(self, round_id: str) -> bool:
        """Abort a round that is under way although it had ended; return whether it had."""
        ending = self.endings.of(round_id)
        state = self.lookup.round(round_id).state  # read after the file: the round is closed before the file is written
        if ending is None or not rules.has_ended_before(ending, state):
            return False
        with suppress(StateError):  # another process was faster
            self.lifecycle.abort(round_id, ending.problem)
        return True


def _problem(error: Exception) -> str:
    """What may be shown about a failure: our own errors say nothing private, others may quote anything."""
    return str(error) if isinstance(error, BlenderError) else f"the work failed: {type(error).__name__}; it will be repeated"
