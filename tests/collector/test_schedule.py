"""Work that is due: scheduled steps, rounds that are stuck, and failures."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds import opt_in_listing as listing
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.errors import DocumentError
from tests.collector.places import NOON, Place, all_at_once, report, settings, uploaded
from tests.collector.steps import scheduled


def test_the_schedule(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings())
    made = rounds.lifecycle.open(campaign, lists_at=NOON + 100, closes_at=NOON + 800)
    for token in rounds.tokens.enrol(campaign, 10):
        rounds.contributions.upload_record(made.id, token, "alpha", None)
    seen = []
    for seconds in (99, 1, 699, 1):
        now[0] += seconds
        if rounds.lookup.round(made.id).state == "listed":
            rounds.contributions.add_reports(made.id, [report(1), report(2)])
        rounds.schedule.advance_due()
        seen.append(rounds.lookup.round(made.id).state)
    assert seen == ["open", "listed", "listed", "released"]


def test_a_refused_scheduled_step_is_retried_in_the_next_hour(place: Place) -> None:
    """A round that continues in the second in which it has enough users would reveal when the last of them came."""
    now = [float(NOON // 3600 * 3600 + 1800)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings())
    made = rounds.lifecycle.open(campaign, lists_at=int(now[0]) + 60, closes_at=int(now[0]) + 4 * 3600)
    tokens = rounds.tokens.enrol(campaign, 6)

    def state_after(seconds: int) -> str:
        now[0] += seconds
        place.rounds(lambda: now[0]).schedule.advance_due()  # another process knows about it, too
        return rounds.lookup.round(made.id).state

    for token in tokens[:5]:
        rounds.contributions.upload_record(made.id, token, "alpha", "https://one.example/")
    assert state_after(60) == "open"
    rounds.contributions.upload_record(made.id, tokens[5], "alpha", "https://one.example/")
    assert [state_after(1), state_after(1700), state_after(40)] == ["open", "open", "listed"]
    rounds.contributions.add_reports(made.id, [report(1)])
    assert state_after(4 * 3600) == "listed"
    rounds.contributions.add_reports(made.id, [report(2)])
    assert state_after(1) == "listed"
    rounds.lifecycle.close(made.id)  # the operator need not wait
    assert rounds.lookup.round(made.id).state == "closed"


def test_a_refused_manual_step_does_not_delay_the_schedule(place: Place) -> None:
    now = [float(NOON // 3600 * 3600)]
    rounds = place.rounds(lambda: now[0])
    made = rounds.lifecycle.open(rounds.campaigns.create(settings()), lists_at=int(now[0]) + 60)
    rounds.lifecycle.freeze(made.id)
    for token in rounds.tokens.enrol(made.campaign, 6):
        rounds.contributions.upload_record(made.id, token, "alpha", "https://one.example/")
    now[0] += 60
    rounds.schedule.advance_due()
    assert rounds.lookup.round(made.id).state == "listed"


def test_a_stuck_round_does_not_block_the_others(rounds: Rounds) -> None:
    stuck, well = uploaded(rounds), uploaded(rounds, name="other")
    for made in (stuck, well):
        rounds.lifecycle.freeze(made.round)
    rounds.keys.destroy(stuck.round)  # as if it had not been restored
    with pytest.raises(DocumentError):
        rounds.schedule.advance_due()
    assert rounds.lookup.round(well.round).state == "listed"
    assert rounds.lookup.round(stuck.round).state == "listing"
    assert "Abort the round" in (rounds.lookup.round(stuck.round).problem or "")
    rounds.lifecycle.abort(stuck.round, "its key is lost")
    rounds.schedule.advance_due()


def test_a_step_that_fails_right_after_another_is_reported(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    name = scheduled(rounds)

    def fail(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr(listing, "make", fail)
    with pytest.raises(KeyError):
        rounds.schedule.advance_due()
    found = rounds.lookup.round(name)
    assert (found.state, found.problem) == ("listing", "the work failed: KeyError; it will be repeated")


def test_a_first_step_that_fails_is_reported(rounds: Rounds) -> None:
    name = scheduled(rounds)
    rounds.journal.path.write_bytes(b"nonsense\n")
    with pytest.raises(DocumentError):
        rounds.schedule.advance_due()
    assert rounds.lookup.round(name).state == "open"
    assert "has an invalid line" in (rounds.lookup.round(name).problem or "")


def test_a_failure_that_cannot_be_stored_does_not_block_other_rounds(
    rounds: Rounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, well = scheduled(rounds), scheduled(rounds, "other")
    rounds.lifecycle.freeze(stuck)
    rounds.keys.destroy(stuck)

    def fail(*_: object) -> None:
        raise sa.exc.OperationalError("", {}, OSError())

    monkeypatch.setattr(rounds.lifecycle, "note_problem", fail)
    with pytest.raises(DocumentError):  # the first failure, not the failure to store it
        rounds.schedule.advance_due()
    assert rounds.lookup.round(well).state == "listed"


def test_a_completed_step_is_not_reported_as_failed(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    made = uploaded(rounds)
    rounds.lifecycle.freeze(made.round)

    def full(*_: object) -> None:
        raise OSError(28, "full")

    with monkeypatch.context() as patch:
        patch.setattr("blender_dp.collector.secrets.keys.KeyFolder.destroy", full)
        with pytest.raises(OSError, match="full"):
            rounds.schedule.advance_due()
    assert (rounds.lookup.round(made.round).state, rounds.lookup.round(made.round).problem) == ("listed", None)
    rounds.schedule.advance_due()
    assert rounds.keys.names() == []


def test_an_unexpected_error_is_reported_without_its_text(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    made, other = uploaded(rounds), uploaded(rounds, name="other")
    for one in (made, other):
        rounds.lifecycle.freeze(one.round)
    real = listing.make

    def fail(*_: object) -> None:
        raise KeyError("canary")

    with monkeypatch.context() as patch:
        patch.setattr(listing, "make", fail)
        with pytest.raises(KeyError):
            rounds.schedule.advance_due()
    assert listing.make is real
    for one in (made, other):
        assert rounds.lookup.round(one.round).problem == "the work failed: KeyError; it will be repeated"
    rounds.schedule.advance_due()
    assert (rounds.lookup.round(made.round).state, rounds.lookup.round(made.round).problem) == ("listed", None)


def test_one_process_at_a_time_does_the_work(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    several = [place.rounds() for _ in range(4)]
    made = uploaded(several[0])
    several[0].lifecycle.freeze(made.round)
    calls = []
    real = listing.make

    def counted_make(*given: Any) -> Any:
        calls.append(1)
        return real(*given)

    monkeypatch.setattr(listing, "make", counted_make)
    assert all_at_once(*[r.schedule.advance_due for r in several]) == [[made.round]] * 4
    assert (len(calls), several[0].lookup.round(made.round).state) == (1, "listed")


def test_a_process_that_ends_frees_the_round_it_has_claimed(place: Place) -> None:
    one, other = place.rounds(), place.rounds()
    made = uploaded(one)
    one.lifecycle.freeze(made.round)
    for failure in (None, KeyError):
        try:
            with other.store.claim(made.round) as ours:
                assert ours
                with one.store.claim(made.round) as theirs:
                    assert not theirs
                one.schedule.advance_due()
                assert one.lookup.round(made.round).state == "listing"
                if failure:
                    raise failure
        except KeyError:
            pass
    one.schedule.advance_due()
    assert one.lookup.round(made.round).state == "listed"
