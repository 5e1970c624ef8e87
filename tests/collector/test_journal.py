"""After a database is restored, what was spent is known from the journal outside it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from blender_dp.collector.campaign import DAY_SECONDS
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets.ledger_chain import START, Entry
from blender_dp.collector.secrets.ledger_journal import DatedEntry, Journal
from blender_dp.collector.server.preparation import prepare
from blender_dp.errors import DocumentError, StateError
from tests.collector.places import NOON, Place, listed, settings, uploaded


def restored(place: Place, folder: Path) -> Place:
    """A copy of the current database, with the key folder that stays in use."""
    place.close()
    backup = place.copy(folder)
    shutil.rmtree(backup.folder / "keys", ignore_errors=True)
    (backup.folder / "keys").symlink_to(place.folder / "keys")
    return backup


def started(place: Place) -> Rounds:
    rounds = place.rounds()
    with rounds.store.write("test") as connection:
        rounds.ledger.catch_up(connection)
    return rounds


def groups(rounds: Rounds) -> list[str]:
    return [entry.group for entry in rounds.budgets.ledger()]


@pytest.mark.parametrize("opened", [True, False], ids=["the round is in the backup", "the round is younger"])
def test_what_was_spent_stays_spent(place: Place, tmp_path: Path, opened: bool) -> None:
    rounds = place.rounds()
    campaign = rounds.campaigns.create(settings(max_epsilon="8"))
    made = uploaded(rounds, campaign=campaign) if opened else None
    backup = restored(place, tmp_path / "backup")
    made = made or uploaded(rounds, campaign=campaign)
    rounds.lifecycle.freeze(made.round)
    rounds.lists.make(made.round)
    before = rounds.budgets.ledger()
    again = started(backup)
    assert again.budgets.ledger() == before  # the same bytes: the chain continues where it was
    if opened:
        again.lifecycle.abort(made.round, "its key is gone")
    another = uploaded(again, campaign=campaign)
    again.lifecycle.freeze(another.round)
    assert again.lookup.round(another.round).state == "open"
    assert "used up" in (again.lookup.round(another.round).problem or "")
    other = uploaded(again, name="other")
    again.lifecycle.freeze(other.round)
    assert groups(again) == ["opt-in", "client", "opt-in"]
    assert again.budgets.ledger()[:2] == before
    backup.close()


def test_a_start_recovers_what_was_spent(empty_place: Place, tmp_path: Path) -> None:
    """Even before anything is spent: the public ledger must show it at once."""
    prepare(empty_place.settings, lambda _: None)
    rounds = empty_place.rounds(migrated=False)
    made = uploaded(rounds)
    backup = restored(empty_place, tmp_path / "backup")
    rounds.lifecycle.freeze(made.round)
    rounds.lists.make(made.round)
    prepare(backup.settings, lambda _: None)
    assert backup.rounds(migrated=False).budgets.ledger() == rounds.budgets.ledger()
    assert groups(rounds) == ["opt-in", "client"]
    backup.remove()


def test_spending_recovers_it_too(place: Place, tmp_path: Path) -> None:
    """There was no restart: the database was restored under a running collector."""
    rounds = place.rounds()
    campaign = rounds.campaigns.create(settings(max_epsilon="8"))
    made = uploaded(rounds, campaign=campaign)
    backup = restored(place, tmp_path / "backup")
    listed(rounds, name="other")
    rounds.lifecycle.freeze(made.round)
    again = backup.rounds()
    again.lifecycle.abort(made.round, "start anew")
    another = uploaded(again, campaign=campaign)
    again.lifecycle.freeze(another.round)
    assert "used up" in (again.lookup.round(another.round).problem or "")
    assert groups(again) == ["opt-in", "client", "opt-in"]
    backup.close()


def test_clients_of_an_unknown_round_count_until_its_list_expires(place: Place, tmp_path: Path) -> None:
    """Only the journal has it: it is unknown when it was closed, and devices may have reported until its list expired."""
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings(period_epsilon="8", period_days=7, list_days=30))
    backup = restored(place, tmp_path / "backup")
    listed(rounds, campaign=campaign)
    again = backup.rounds(lambda: now[0])
    made = uploaded(again, campaign=campaign)
    for days, problem in ((20, "the budget of client users"), (16.9, "the budget of client users"), (0.2, "")):
        now[0] += days * DAY_SECONDS
        again.lifecycle.freeze(made.round)
        assert (again.lookup.round(made.round).problem or "").startswith(problem)
    assert again.lookup.round(made.round).state == "listing"
    backup.remove()


def test_a_listed_round_gets_no_second_list(place: Place, tmp_path: Path) -> None:
    """Even if the key outlived the list, as after a crash at the worst moment."""
    rounds = place.rounds()
    made = uploaded(rounds)
    backup = restored(place, tmp_path / "backup")
    key = rounds.keys.read(made.round)
    rounds.lifecycle.freeze(made.round)
    rounds.lists.make(made.round)
    (rounds.keys.folder / f"{made.round}.key").write_bytes(key)
    again = started(backup)
    again.lifecycle.freeze(made.round)
    assert again.lookup.round(made.round).state == "open"
    assert "abort the round" in (again.lookup.round(made.round).problem or "")
    backup.close()


def test_an_interrupted_step_is_spent_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal has it and the database does not: another campaign continues after it, and the round finds it."""
    rounds = place.rounds()
    made, other = uploaded(rounds, max_epsilon="8"), uploaded(rounds, name="other")

    def crash(point: str) -> None:
        if point == "journal: written":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("blender_dp.collector.rounds.ledger.reached", crash)
        with pytest.raises(KeyboardInterrupt):
            rounds.lifecycle.freeze(made.round)
    assert groups(rounds) == []
    rounds.lifecycle.freeze(other.round)
    assert [entry.round for entry in rounds.budgets.ledger()] == [made.round, other.round]
    rounds.lifecycle.freeze(made.round)
    assert rounds.lookup.round(made.round).state == "listing"
    assert [entry.round for entry in rounds.budgets.ledger()] == [made.round, other.round]


def test_a_process_that_has_lost_its_session_spends_nothing(place: Place) -> None:
    """A process that slept has lost its lock, and knows an old end of the ledger."""
    rounds = place.rounds()
    made, other = uploaded(rounds), uploaded(rounds, name="other")
    stale = Entry(1, made.campaign, made.round, "opt-in", "8", "1/100", START)
    rounds.lifecycle.freeze(other.round)
    before = rounds.journal.path.read_bytes()
    with rounds.store.write("test") as connection, pytest.raises(StateError, match="in the meantime"):
        rounds.ledger.add(connection, DatedEntry(NOON, stale))
    assert rounds.journal.path.read_bytes() == before
    rounds.lifecycle.freeze(made.round)
    assert [entry.round for entry in rounds.budgets.ledger()] == [other.round, made.round]


def test_one_process_at_a_time_holds_the_journal(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from blender_dp.collector.campaign import DAY_SECONDS
from blender_dp.collector.secrets.ledger_journal import Journal
with Journal(Path(sys.argv[1])).lock():
    print("held", flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    came = threading.Event()

    def take() -> None:
        with Journal(tmp_path).lock():
            came.set()

    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        ours = threading.Thread(target=take)
        ours.start()
        waited = not came.wait(0.3)
        other.communicate()
    assert came.wait(120)
    ours.join()
    assert waited


def test_contradicting_histories_are_refused(place: Place, tmp_path: Path) -> None:
    rounds = place.rounds()
    made, other = uploaded(rounds), uploaded(rounds, name="other")
    backup = restored(place, tmp_path / "backup")
    (backup.folder / "keys").unlink()
    shutil.copytree(place.folder / "keys", backup.folder / "keys")
    rounds.lifecycle.freeze(made.round)
    again = backup.rounds()
    again.lifecycle.freeze(other.round)  # it does not have the journal
    shutil.copy(rounds.journal.path, again.journal.path)
    with pytest.raises(DocumentError, match="entry 1 is not the one"):
        started(backup)
    with pytest.raises(DocumentError):
        again.lifecycle.freeze(made.round)
    assert again.lookup.round(made.round).state == "open"
    assert [entry.round for entry in again.budgets.ledger()] == [other.round]
    backup.close()


def test_a_lost_or_old_journal_is_filled_from_the_ledger(place: Place) -> None:
    rounds = place.rounds()
    listed(rounds)
    whole = rounds.journal.path.read_bytes()
    for left in (b"", whole[: whole.index(b"\n") + 1], whole[:-1], whole + b"17 abc"):
        rounds.journal.path.write_bytes(left)
        started(place)
        assert rounds.journal.path.read_bytes() == whole


@pytest.mark.parametrize("line", [b"nonsense\n", b"1 2 3\n", b"\xff\xff\n", b"\n"])
def test_a_damaged_journal_is_reported(sqlite: Place, line: bytes) -> None:
    rounds = sqlite.rounds()
    listed(rounds)
    with rounds.journal.path.open("ab") as file:
        file.write(line)
    with pytest.raises(DocumentError):
        started(sqlite)


def test_the_journal_is_readable_by_its_owner_only_and_equals_the_ledger(sqlite: Place) -> None:
    rounds = sqlite.rounds()
    listed(rounds)
    journal = Journal(sqlite.folder / "keys")
    assert journal.path.stat().st_mode & 0o777 == 0o600
    with journal.lock() as handle:
        entries: list[Entry] = [one.entry for one in journal.read(handle)]
    assert entries == rounds.budgets.ledger()
    assert replace(entries[0], epsilon="9").digest != entries[0].digest
    new = Journal(sqlite.folder / "new")
    with new.lock():
        assert new.folder.stat().st_mode & 0o777 == 0o700
