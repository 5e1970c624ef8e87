"""What must survive a power failure is on disk before anything depends on it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.server.preparation import prepare
from tests.collector.places import Place, listed, settings, uploaded

Done = list[tuple[str, str]]
Recorder = Callable[[Rounds | None], Done]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Record what is synced, with its name and content, and what is committed."""

    def record(rounds: Rounds | None) -> Done:
        done: Done = []
        sync = os.fsync

        def fsync(handle: int) -> None:
            path = Path(f"/proc/self/fd/{handle}").readlink()
            if path.is_dir():
                what = " ".join(sorted(one.name for one in path.iterdir()))
            else:
                what = "zeros" if not any(path.read_bytes()) else f"{path.read_bytes().count(b'opt-in')} opt-in"
            done.append((f"sync {path.name}", what))
            sync(handle)

        monkeypatch.setattr(os, "fsync", fsync)
        if rounds is None:
            return done
        sa.event.listen(rounds.store.engine, "commit", lambda _: done.append(("commit", "")))
        sa.event.listen(
            rounds.store.engine,
            "before_cursor_execute",
            lambda _, __, statement, *___: done.append(("insert", "")) if "INSERT INTO ledger" in statement else None,
        )
        return done

    return record


def test_an_entry_is_in_the_journal_on_disk_before_it_is_in_the_ledger(place: Place, recorded: Recorder) -> None:
    rounds = place.rounds()
    made = uploaded(rounds)
    done = recorded(rounds)
    rounds.lifecycle.freeze(made.round)
    assert done == [
        ("sync ledger.journal", "1 opt-in"),
        ("sync keys", f"{made.round}.key ledger.journal"),  # a file that is not in its folder is lost
        ("insert", ""),
        ("commit", ""),
    ]


def test_a_journal_that_is_filled_from_the_ledger_is_on_disk(place: Place, recorded: Recorder) -> None:
    rounds = place.rounds()
    listed(rounds)
    other = uploaded(rounds, name="other")
    rounds.journal.path.unlink()
    done = recorded(rounds)
    rounds.lifecycle.freeze(other.round)
    assert [what for what in done if "journal" in what[0]] == [
        ("sync ledger.journal", "1 opt-in"),
        ("sync ledger.journal", "2 opt-in"),
    ]
    assert [name for name, _ in done] == ["sync ledger.journal", "sync keys"] * 2 + ["insert", "commit"]


def test_a_key_is_on_disk_before_its_round_is_open(place: Place, recorded: Recorder) -> None:
    """A round without a key would accept records that nobody can read."""
    rounds = place.rounds()
    campaign = rounds.campaigns.create(settings())
    done = recorded(rounds)
    name = rounds.lifecycle.open(campaign).id
    assert done == [(f"sync {name}.key", "0 opt-in"), ("sync keys", f"{name}.key"), ("commit", "")]


@pytest.mark.parametrize("end", ["list", "abort"])
def test_a_key_is_overwritten_and_removed_on_disk(place: Place, recorded: Recorder, end: str) -> None:
    """After the commit, not before: if the commit fails, the round still needs it."""
    rounds = place.rounds()
    made = uploaded(rounds)
    if end == "list":
        rounds.lifecycle.freeze(made.round)
    done = recorded(rounds)
    if end == "list":
        rounds.lists.make(made.round)
    else:
        rounds.lifecycle.abort(made.round, "enough")
    left = "ledger.journal" if end == "list" else "rounds.journal"  # an ending is written first
    assert done[-3:] == [("commit", ""), (f"sync {made.round}.key", "zeros"), ("sync keys", left)]


def test_the_files_of_a_first_start_are_on_disk(sqlite: Place, recorded: Recorder) -> None:
    """The database remembers them for ever, and would not start without them."""
    done = recorded(None)
    prepare(sqlite.settings, lambda _: None)
    for folder, file in (("place", "signing-key.pem"), ("keys", "folder.id")):
        stem = file.partition(".")[0]
        written = [place for place, (name, _) in enumerate(done) if re.fullmatch(rf"sync {stem}\.[0-9a-f]+\.partial", name)]
        named = [place for place, (name, what) in enumerate(done) if name == f"sync {folder}" and file in what.split()]
        assert len(written) == 1
        assert min(named) > written[0]
