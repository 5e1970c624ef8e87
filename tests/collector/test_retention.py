"""What is deleted, and when: reports and keys."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.rounds.retention import Retention
from blender_dp.collector.storage import report_rows
from blender_dp.collector.storage.schema import reports
from blender_dp.collector.worker import Worker
from blender_dp.errors import StateError
from tests.collector.places import NOON, Place, all_at_once, listed, report, uploaded
from tests.collector.steps import DAY, content_of, rows


def test_a_key_that_never_got_a_round_is_destroyed_after_a_day(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    rounds.keys.create("orphan")
    os.utime(rounds.keys.folder / "orphan.key", (0, 0))  # its age does not matter
    for _ in range(2):
        rounds.schedule.advance_due()
        assert rounds.keys.names() == ["orphan"]  # a database without a round knows nothing about keys
        now[0] += 2 * DAY
    made = uploaded(rounds)
    for seconds, left in ((0, ["orphan"]), (DAY - 60, ["orphan"]), (60, [])):
        now[0] += seconds
        rounds.schedule.advance_due()
        assert rounds.keys.names() == sorted([*left, made.round])  # it may belong to a round that is being opened


def test_an_old_database_restored_for_an_hour_costs_no_key(place: Place, tmp_path: Path) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    rounds.lifecycle.abort(uploaded(rounds).round, "so that the backup has a round")
    place.close()
    backup = place.copy(tmp_path / "backup")
    shutil.rmtree(backup.folder / "keys", ignore_errors=True)
    (backup.folder / "keys").symlink_to(place.folder / "keys")
    young = uploaded(rounds, name="other")
    now[0] += 9 * DAY
    old = backup.rounds(lambda: now[0])
    old.schedule.advance_due()
    now[0] += 3600
    old.schedule.advance_due()
    backup.close()
    rounds.schedule.advance_due()
    rounds.lifecycle.freeze(young.round)
    rounds.lists.make(young.round)
    assert rounds.lookup.round(young.round).state == "listed"


def test_a_key_that_gets_its_round_back_is_no_longer_unknown(place: Place, tmp_path: Path) -> None:
    """The time counts from when its round was last missing."""
    rounds = place.rounds()
    rounds.lifecycle.abort(uploaded(rounds).round, "so that the backup has a round")
    place.close()
    backup = place.copy(tmp_path / "backup")
    made = uploaded(rounds, name="other")
    now = [0.0]
    old, retention = backup.rounds(), Retention(rounds.store, rounds.keys, Clock(lambda: now[0]))
    for store, now[0] in ((old.store, 0), (rounds.store, 60), (old.store, 9 * DAY), (old.store, 10 * DAY - 60)):
        retention.store = store
        retention.destroy_unneeded_keys()
        assert rounds.keys.names() == [made.round]
    now[0] = 10 * DAY
    retention.destroy_unneeded_keys()
    assert rounds.keys.names() == []
    backup.remove()


def test_a_clock_that_ran_fast_does_not_affect_later_dates(place: Place) -> None:
    now = [float(NOON + 365 * DAY)]
    rounds = place.rounds(lambda: now[0])
    rounds.lifecycle.abort(uploaded(rounds, name="other").round, "the clock is a year ahead")
    now[0] = float(NOON)
    made = listed(rounds, list_days=30)
    assert content_of(rounds, made.round)["expires"] == NOON // 3600 * 3600 + 30 * DAY
    rounds.contributions.add_reports(made.round, [report(i) for i in range(4)])
    rounds.lifecycle.close(made.round)
    now[0] += 365 * DAY
    rounds.releases.make(made.round)
    now[0] = float(NOON)
    assert rounds.retention.delete_reports() == 4  # they were not to be kept
    capped = uploaded(rounds, name="capped", period_epsilon="8", period_days=30)
    rounds.lifecycle.freeze(capped.round)
    rounds.lifecycle.abort(capped.round, "spent")
    now[0] += 31 * DAY
    again = uploaded(rounds, campaign=capped.campaign)
    rounds.lifecycle.freeze(again.round)
    assert rounds.lookup.round(again.round).state == "listing"


@pytest.mark.parametrize("kept", [0, 2])
def test_reports_are_deleted_after_the_release(place: Place, monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr("blender_dp.collector.rounds.retention._DELETED", 7)
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    made = listed(rounds, keep_reports_days=kept)
    other = listed(rounds, name="other")
    for name in (made.round, other.round):
        rounds.contributions.add_reports(name, [report(i) for i in range(40)])
    assert rounds.retention.delete_reports() == 0
    rounds.lifecycle.close(made.round)
    assert rounds.retention.delete_reports() == 0  # they are still to be counted
    rounds.releases.make(made.round)
    before = rounds.lookup.round(made.round)
    if kept:
        now[0] += kept * DAY - 7200
        assert rounds.retention.delete_reports() == 0
        now[0] += 7200
    both = all_at_once(rounds.retention.delete_reports, place.rounds(lambda: now[0]).retention.delete_reports)
    assert sum(both) == 40
    assert [row.round for row in rows(rounds, sa.select(reports.c.round))] == [other.round] * 40
    with pytest.raises(StateError):  # a late duplicate is not counted again
        rounds.contributions.add_reports(made.round, [report(1)])
    rounds.schedule.advance_due()
    assert rounds.lookup.round(made.round) == before
    assert rounds.retention.delete_reports() == 0


def test_a_worker_stops_between_two_batches_of_deletions(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deleting millions of reports takes longer than a service manager waits; the next start goes on."""
    monkeypatch.setattr("blender_dp.collector.rounds.retention._DELETED", 1)
    made = listed(rounds)
    rounds.contributions.add_reports(made.round, [report(i) for i in range(40)])
    rounds.lifecycle.abort(made.round, "enough")
    deleting, stopping, delete_some = threading.Event(), threading.Event(), report_rows.delete_some

    def delete_when_stopping(*arguments: Any) -> list[bytes]:
        deleting.set()
        assert stopping.wait(30)
        return delete_some(*arguments)

    monkeypatch.setattr(report_rows, "delete_some", delete_when_stopping)
    worker = Worker(rounds)
    worker.start()
    assert deleting.wait(30)
    stop = threading.Thread(target=worker.stop)
    stop.start()
    while not worker._stopped:
        time.sleep(0.01)
    stopping.set()
    stop.join(30)
    assert not stop.is_alive()
    assert len(rows(rounds, sa.select(reports))) == 39
    assert rounds.retention.delete_reports() == 39


def test_a_batch_of_deletions_goes_on_where_the_last_one_ended(rounds: Rounds) -> None:
    """In the order of the ids, so that no batch reads what an earlier one has deleted."""
    made, other = listed(rounds), listed(rounds, name="other")
    for name in (made.round, other.round):
        rounds.contributions.add_reports(name, [report(i) for i in range(9)])
    ids = sorted(row.id for row in rows(rounds, sa.select(reports).where(reports.c.round == made.round)))
    with rounds.store.write("test") as transaction:
        assert sorted(report_rows.delete_some(transaction, made.round, 2, ids[3])) == ids[4:6]
        assert sorted(report_rows.delete_some(transaction, made.round, 3)) == ids[:3]
        assert sorted(report_rows.delete_some(transaction, made.round, 9)) == [ids[3], *ids[6:]]
        assert report_rows.delete_some(transaction, made.round, 9) == []
    assert [row.round for row in rows(rounds, sa.select(reports.c.round))] == [other.round] * 9


def test_the_reports_of_an_aborted_round_are_deleted_in_batches(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    """An abort does not wait for it, and other writers do not wait long."""
    monkeypatch.setattr("blender_dp.collector.rounds.retention._DELETED", 7)
    made, other = listed(rounds, keep_reports_days=9), listed(rounds, name="other")
    for name in (made.round, other.round):
        rounds.contributions.add_reports(name, [report(i) for i in range(40)])
    rounds.lifecycle.abort(made.round, "enough")
    assert len(rows(rounds, sa.select(reports))) == 80
    assert rounds.retention.delete_reports() == 40
    assert [row.round for row in rows(rounds, sa.select(reports.c.round))] == [other.round] * 40
