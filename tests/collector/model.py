"""The expected state of a campaign whose operations come in any order."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.rounds.rules import LEAST_SECONDS
from blender_dp.collector.storage.report_counting import EXPORT_FROM, CellCounts, Counting
from blender_dp.collector.storage.store import Store
from blender_dp_device.digests import ListDigest
from blender_dp_device.records.head_list import HeadList
from tests.collector.places import NOON, Place, Server, settings

USERS = 12  # two for every query
IDS = USERS + 1  # as many as there are cells, if all queries are listed
DONE = {"released", "aborted"}
ALL_IS_LISTED = {"epsilon": "40", "delta": "0.1", "f_o": "0.99", "max_queries": USERS, "allow_weak_privacy": True}


@dataclass(frozen=True)
class Seen(Counting):
    """Reports what it has counted."""

    told: dict[str, CellCounts] = field(default_factory=dict)

    def count(self, store: Store, round_id: str, digest: ListDigest, cells: int) -> CellCounts:
        counted = super().count(store, round_id, digest, cells)
        self.told[round_id] = counted
        return counted


class Model(RuleBasedStateMachine):
    """What should be: the state that the operations of one campaign lead to."""

    def __init__(self, server: Server | None) -> None:
        super().__init__()
        self.server = server

    @initialize(export_from=st.sampled_from([0, EXPORT_FROM]))
    def begin(self, export_from: int) -> None:
        self.now = float(NOON)
        self.place = Place.new(Path(tempfile.mkdtemp()) / "place", self.server)
        self.counting = Seen(self.place.settings.counting.scratch, export_from)
        self._start()
        self.campaign = self.rounds.campaigns.create(settings(min_opt_in=4, min_reports=2, **ALL_IS_LISTED))
        self.tokens = self.rounds.tokens.enrol(self.campaign, USERS)
        self.states: dict[str, str] = {}
        self.schedule: dict[str, tuple[int | None, int | None]] = {}
        self.records: dict[int, str] = {}  # of the current round: user, receipt
        self.void: list[str] = []
        self.withdrawn: dict[int, str] = {}  # of the current round, too
        self.refused: dict[str, int] = {}
        self.reports: dict[str, set[int]] = {}
        self.spent: list[tuple[str, str]] = []
        self.forgotten: set[str] = set()
        self.published: dict[str, bytes] = {}

    def _start(self) -> None:
        self.two = [self.place.rounds(self._clock, counting=self.counting) for _ in range(2)]

    @property
    def rounds(self) -> Rounds:
        return self.two[0]

    def _clock(self) -> float:
        return self.now

    def _current(self) -> str | None:
        return next((name for name, state in self.states.items() if state not in DONE), None)

    def _is(self, *states: str) -> bool:
        return hasattr(self, "states") and self.states.get(self._current() or "") in states

    def _cells(self, name: str) -> int:
        """How many cells a round's list has: if there are enough, every report has its own, and a double count shows."""
        body = self.rounds.published.document(self.rounds.lookup.round(name).head_list or "", "head-list")
        return HeadList.from_document(json.loads(body)["content"]["head_list"]).cell_count if body else 1

    def _current_known(self) -> bool:
        return bool(getattr(self, "states", None))

    def _expect_freeze(self, name: str) -> bool:
        closes = self.schedule[name][1]
        in_time = closes is None or closes >= self.now + LEAST_SECONDS
        if self.states[name] == "open" and len(self.records) >= 4 and in_time:
            self.states[name] = "listing"
            self.spent.append((name, "opt-in"))
            self.refused.pop(name, None)
        return self.states[name] == "listing"

    def _expect_close(self, name: str) -> bool:
        if self.states[name] == "listed" and len(self.reports.get(name, ())) >= 2:
            self.states[name] = "closed"
            self.refused.pop(name, None)
        return self.states[name] == "closed"

    def _expect_look(self, name: str) -> None:
        lists, closes = self.schedule[name]
        seen = self.states[name]
        hour = int(self.now) // 3600
        waits = self.refused.get(name) == hour  # a scheduled step that was refused in this hour
        if seen == "open" and lists is not None and lists <= self.now and not waits and not self._expect_freeze(name):
            self.refused[name] = hour
        if seen == "listed" and closes is not None and closes <= self.now and not waits and not self._expect_close(name):
            self.refused[name] = hour
        if self.states[name] == "listing":
            self.states[name] = "listed"
            self.spent.append((name, "client"))
        if self.states[name] == "closed":
            self.states[name] = "released"
