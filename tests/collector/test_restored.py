"""A database that was restored from a backup: no round ends twice, uploads are refused, and dates can be corrected."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from blender_dp.collector.campaign import DAY_SECONDS
from blender_dp.collector.rounds.date_correction import redate
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets.round_endings import Ending, Endings
from blender_dp.errors import DocumentError, StateError
from tests.collector.places import NOON, Place, listed, report, settings, uploaded
from tests.collector.test_journal import restored


def released(rounds: Rounds, name: str, reports: int) -> str:
    rounds.contributions.add_reports(name, [report(i, i % 2) for i in range(reports)])
    rounds.lifecycle.close(name)
    rounds.schedule.advance_due()
    return rounds.lookup.round(name).release or ""


def events_of(rounds: Rounds, name: str) -> list[str]:
    with rounds.store.read() as connection:
        return list(
            connection.scalars(sa.text("SELECT what FROM events WHERE round = :name ORDER BY number"), {"name": name})
        )


def test_no_second_release_with_other_reports(place: Place, tmp_path: Path) -> None:
    rounds = place.rounds()
    made = listed(rounds)
    backup = restored(place, tmp_path / "backup")
    first = released(rounds, made.round, 20)
    assert first
    again = backup.rounds()
    again.schedule.advance_due()  # as the worker does every second: no device reports in vain
    found = again.lookup.round(made.round)
    assert (found.state, found.release) == ("aborted", None)
    assert first in (found.problem or "")
    with pytest.raises(StateError):
        again.contributions.add_reports(made.round, [report(1)])
    backup.remove()


def test_no_second_release_of_a_round_that_closes_unnoticed(place: Place, tmp_path: Path) -> None:
    rounds = place.rounds()
    made = listed(rounds)
    backup = restored(place, tmp_path / "backup")
    first = released(rounds, made.round, 20)
    again = backup.rounds()
    assert released(again, made.round, 10) == ""
    assert again.lookup.round(made.round).state == "aborted"
    assert first in (again.lookup.round(made.round).problem or "")
    assert again.published.document(first, "release") is None
    backup.remove()


def test_the_same_reports_produce_the_same_release(place: Place, tmp_path: Path) -> None:
    """A backup of a closed round has everything: it is released again, with the same bytes."""
    rounds = place.rounds()
    made = listed(rounds)
    rounds.contributions.add_reports(made.round, [report(i, i % 2) for i in range(20)])
    rounds.lifecycle.close(made.round)
    backup = restored(place, tmp_path / "backup")
    rounds.schedule.advance_due()
    again = backup.rounds()
    again.schedule.advance_due()
    assert again.lookup.round(made.round) == rounds.lookup.round(made.round)
    assert again.lookup.round(made.round).state == "released"
    backup.remove()


@pytest.mark.parametrize("state", ["open", "listed"])
def test_what_was_aborted_stays_aborted(place: Place, tmp_path: Path, state: str) -> None:
    rounds = place.rounds()
    made = uploaded(rounds) if state == "open" else listed(rounds)
    backup = restored(place, tmp_path / "backup")
    rounds.lifecycle.abort(made.round, "a mistake")
    again = backup.rounds()
    again.schedule.advance_due()
    assert again.lookup.round(made.round) == rounds.lookup.round(made.round)
    assert events_of(again, made.round) == events_of(rounds, made.round)
    backup.remove()


def test_an_open_round_whose_list_was_already_made(place: Place, tmp_path: Path) -> None:
    """Its key is destroyed: uploads are refused until the next round, and the operator sees what to do."""
    rounds = place.rounds()
    made = uploaded(rounds)
    backup = restored(place, tmp_path / "backup")
    rounds.lifecycle.freeze(made.round)
    rounds.lists.make(made.round)
    again = backup.rounds()
    with pytest.raises(StateError, match="key is gone") as refused:
        again.contributions.upload_record(made.round, made.tokens[0], "alpha", None)
    assert refused.value.kind == "conflict"  # 409, not 500
    again.schedule.advance_due()
    assert again.lookup.round(made.round).state == "open"
    assert "abort the round" in (again.lookup.round(made.round).problem or "")
    again.lifecycle.freeze(made.round)  # an operator who requests the list gets the same reason
    assert "abort the round" in (again.lookup.round(made.round).problem or "")
    again.lifecycle.abort(made.round, "restored")
    assert again.lookup.round(made.round).state == "aborted"
    backup.remove()


def test_endings(tmp_path: Path) -> None:
    endings = Endings(tmp_path / "keys")
    assert endings.of("a") is None
    one = Ending("a", "released", "digest")
    assert endings.note(one) == one == endings.of("a")
    assert endings.note(Ending("a", "aborted", "later")) == one  # the first one counts
    with endings.path.open("ab") as file:
        file.write(b'{"round": "b", "end"')  # a crash
    assert endings.note(Ending("c", "aborted", "why\nnot")).detail == "why\nnot"
    assert (endings.of("a"), endings.of("b")) == (one, None)
    assert endings.path.stat().st_mode & 0o777 == 0o600
    with endings.path.open("ab") as file:
        file.write(b"nonsense\n")
    with pytest.raises(DocumentError):
        endings.of("a")


def test_dates_from_a_fast_clock_can_be_corrected(place: Place) -> None:
    """Its dates keep the limit of a period in force until the wrong date; after a correction, for one period from now."""
    now = [float(NOON + 400 * DAY_SECONDS)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings(period_epsilon="8", period_days=7, list_days=1))
    made = listed(rounds, campaign=campaign)
    rounds.lifecycle.abort(made.round, "the clock was wrong")
    now[0] = float(NOON)
    other = uploaded(rounds, campaign=campaign)
    now[0] += 30 * DAY_SECONDS
    rounds.lifecycle.freeze(other.round)
    assert "--correct-dates" in (rounds.lookup.round(other.round).problem or "")
    assert redate(rounds.store, rounds.journal, now[0]) == 2
    assert redate(rounds.store, rounds.journal, now[0]) == 0
    with rounds.store.write("test") as connection:
        corrected = rounds.ledger.catch_up(connection)
    assert all(now[0] <= one.at <= now[0] + 3600 for one in corrected)  # never earlier than it may have been spent
    for days, state in ((6, "open"), (2.1, "listing")):
        now[0] += days * DAY_SECONDS
        rounds.lifecycle.freeze(other.round)
        assert rounds.lookup.round(other.round).state == state
        assert "--correct-dates" not in (rounds.lookup.round(other.round).problem or "")
    with rounds.journal.lock() as handle:
        assert rounds.journal.read(handle)[:2] == corrected
