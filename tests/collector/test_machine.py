"""Any operations in any order, checked against a model: `pytest tests/collector/test_machine.py --hypothesis-seed=N`."""

from __future__ import annotations

import shutil
import threading
from collections import Counter

import pytest
import sqlalchemy as sa
from hypothesis import settings as how
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.rounds.rules import LEAST_SECONDS
from blender_dp.collector.storage.schema import events, objects, records, reports
from blender_dp.errors import ParameterError, StateError
from tests.collector.model import DONE, IDS, USERS, Model
from tests.collector.places import report


class Life(Model):
    """One campaign over many rounds, managed by two collectors on the same database."""

    @precondition(lambda self: hasattr(self, "states") and self._current() is None)
    @rule(lists=st.none() | st.integers(-50, 200), closes=st.none() | st.integers(500, 1200))
    def open(self, lists: int | None, closes: int | None) -> None:
        times = tuple(None if one is None else int(self.now) + one for one in (lists, closes))
        try:
            made = self.rounds.lifecycle.open(self.campaign, lists_at=times[0], closes_at=times[1])
        except ParameterError:
            assert closes is not None
            assert closes < max(lists or 0, 0) + LEAST_SECONDS
            return
        self.states[made.id], self.schedule[made.id] = "open", times  # type: ignore[assignment]
        self.records, self.withdrawn = {}, {}

    @precondition(lambda self: self._is("open", "listing", "listed", "closed"))
    @rule(user=st.integers(0, USERS - 1))
    def upload(self, user: int) -> None:
        name = self._current() or ""
        try:
            receipt = self.rounds.contributions.upload_record(
                name, self.tokens[user], f"query {'abcdef'[user // 2]}", "https://one.example/"
            )
        except StateError:
            assert self.states[name] != "open" or user in self.withdrawn
        else:
            assert self.states[name] == "open"
            assert user not in self.withdrawn
            self.void += [self.records[user]] if user in self.records else []
            self.records[user] = receipt

    @precondition(lambda self: self._is("open"))
    @rule()
    def everybody_uploads(self) -> None:
        for user in range(USERS):
            self.upload(user)

    @precondition(lambda self: hasattr(self, "records") and self.records)
    @rule(pick=st.integers(0, 100))
    def withdraw(self, pick: int) -> None:
        user = sorted(self.records)[pick % len(self.records)]
        gone = self.rounds.contributions.withdraw(self.records[user])
        assert gone == self._is("open")
        if gone:
            self.withdrawn[user] = self.records.pop(user)

    @precondition(lambda self: hasattr(self, "void") and self.void)
    @rule(pick=st.integers(0, 100))
    def withdraw_what_was_replaced(self, pick: int) -> None:
        assert not self.rounds.contributions.withdraw(self.void[pick % len(self.void)])

    @precondition(lambda self: hasattr(self, "withdrawn") and self.withdrawn)
    @rule(pick=st.integers(0, 100), other=st.booleans())
    def repeat_what_was_withdrawn(self, pick: int, other: bool) -> None:
        """A repeated withdrawal has the same result; a late upload is refused."""
        user = sorted(self.withdrawn)[pick % len(self.withdrawn)]
        assert self.rounds.contributions.withdraw(self.withdrawn[user]) == self._is("open")
        name, receipt = list(self.states)[-1], "ab" * 32 if other else self.withdrawn[user]
        with pytest.raises(StateError):
            self.rounds.contributions.upload_record(name, self.tokens[user], "query a", "https://one.example/", receipt)

    @precondition(lambda self: self._current_known())
    @rule(ids=st.lists(st.integers(0, IDS - 1), max_size=12), threads=st.sampled_from([1, 1, 1, 2, 4]))
    def send(self, ids: list[int], threads: int) -> None:
        """Every id has one report: whatever is sent again is a duplicate, in this request, at the same time or later."""
        name = list(self.states)[-1]
        cells = self._cells(name)
        came: list[bool] = []

        def one(rounds: Rounds, order: list[int]) -> None:
            try:
                rounds.contributions.add_reports(name, [report(i, i % cells) for i in order])
            except StateError:
                came.append(False)
            else:
                came.append(True)

        if threads == 1:
            one(self.rounds, ids)
        else:
            several = [threading.Thread(target=one, args=(self.two[k % 2], ids[:: 1 - 2 * (k % 2)])) for k in range(threads)]
            for thread in several:
                thread.start()
            for thread in several:
                thread.join()
        assert came == [self.states[name] == "listed"] * threads
        if self.states[name] == "listed":
            self.reports.setdefault(name, set()).update(ids)

    @precondition(lambda self: self._is("open"))
    @rule()
    def freeze(self) -> None:
        name = self._current() or ""
        self.rounds.lifecycle.freeze(name)
        self._expect_freeze(name)

    @precondition(lambda self: self._is("listed"))
    @rule()
    def close(self) -> None:
        name = self._current() or ""
        self.rounds.lifecycle.close(name)
        self._expect_close(name)

    @precondition(lambda self: self._current_known())
    @rule(both=st.booleans())
    def advance(self, both: bool) -> None:
        """What both collectors' workers do at the same time."""
        name = self._current()
        # Each collector reads the schedule once: what one has just listed, the other may close.
        if both:
            failed: list[Exception] = []

            def one(rounds: Rounds) -> None:
                try:
                    rounds.schedule.advance_due()
                except Exception as error:  # noqa: BLE001 (asserted on below)
                    failed.append(error)

            several = [threading.Thread(target=one, args=(rounds,)) for rounds in self.two]
            for thread in several:
                thread.start()
            for thread in several:
                thread.join()
            assert failed == []
            self.rounds.schedule.advance_due()  # so that the expected state does not depend on who was faster
        else:
            self.rounds.schedule.advance_due()
        for _ in range(3 if both else 1):
            if name is not None:
                self._expect_look(name)

    @rule(seconds=st.sampled_from([1, 60, 300, 86_400, -60, -86_400]))
    def time_passes(self, seconds: int) -> None:
        self.now += seconds

    @precondition(lambda self: self._current_known())
    @rule()
    def forget(self) -> None:
        """Delete the reports of finished rounds, which this campaign does not keep."""
        over = {name for name, state in self.states.items() if state in DONE} - self.forgotten
        assert self.rounds.retention.delete_reports() == sum(len(self.reports.get(name, ())) for name in over)
        self.forgotten |= over

    @rule()
    def restart(self) -> None:
        self.place.close()
        self.place.opened.clear()
        self._start()

    @precondition(lambda self: self._is("open", "listing", "listed", "closed"))
    @rule(sure=st.integers(0, 3))
    def abort(self, sure: int) -> None:
        if sure:  # not too often, otherwise no round gets far
            return
        name = self._current() or ""
        self.rounds.lifecycle.abort(name, "enough")
        self.states[name] = "aborted"

    @invariant()
    def all_is_as_it_should_be(self) -> None:
        if not hasattr(self, "states"):
            return
        entries = self.rounds.budgets.ledger()  # checks the chain
        assert [(entry.round, entry.group) for entry in entries] == self.spent
        with self.rounds.store.read() as connection:
            states = dict(connection.execute(sa.text("SELECT id, state FROM rounds")).all())
            kept = connection.scalar(sa.select(sa.func.count()).select_from(records))
            found = connection.execute(sa.select(reports.c.round, reports.c.id)).all()
            bodies = dict(connection.execute(sa.select(objects.c.digest, objects.c.body)).all())
            released = connection.scalar(sa.select(sa.func.count()).where(events.c.what == "released"))
        assert states == self.states
        assert kept == (len(self.records) if self._is("open", "listing") else 0)
        assert sorted((row.round, int.from_bytes(row.id, "big")) for row in found) == sorted(
            (name, i) for name, ids in self.reports.items() if name not in self.forgotten for i in ids
        )
        assert self.published.items() <= bodies.items()  # what is published never changes
        self.published = bodies
        assert released == sum(state == "released" for state in states.values())
        current = self._current()
        assert {*self.rounds.keys.names()} == ({current} if self._is("open", "listing") else set())

    def teardown(self) -> None:
        if not hasattr(self, "states"):
            return
        if self._is("open"):  # whatever has happened, the round ends
            self.everybody_uploads()
            self.freeze()
        if self._is("open"):  # it is too late, or too many have withdrawn, and its problem says so
            said = self.rounds.lookup.round(self._current() or "").problem or ""
            assert "abort the round" in said or ("too few" in said and len(self.records) < 4)
            self.abort(0)
        for _ in range(3):
            if self._is("listed"):
                self.send([0, 1], 1)
                self.close()
            self.advance(False)
        assert self._current() is None
        self.all_is_as_it_should_be()
        for name, state in self.states.items():
            if state == "released":
                body = self.rounds.published.document(self.rounds.lookup.round(name).release or "", "release") or b""
                assert f'"reports":{len(self.reports[name])}'.encode() in body
                counts, clients = self.counting.told[name]
                sent = Counter(i % self._cells(name) for i in self.reports[name])
                assert {cell: n for cell, n in enumerate(counts.tolist()) if n} == sent
                assert clients == len(self.reports[name])
        self.place.remove()
        shutil.rmtree(self.place.folder.parent)


@pytest.mark.parametrize(("database", "lives"), [("sqlite", 40), ("postgresql", 15)])
def test_a_life(request: pytest.FixtureRequest, database: str, lives: int) -> None:
    server = request.getfixturevalue("server") if database == "postgresql" else None
    lived = how(max_examples=lives, stateful_step_count=60, deadline=None, print_blob=True)
    run_state_machine_as_test(lambda: Life(server), settings=lived)
