"""The life of a round: its steps, their order and repetition, aborts and expiry."""

from __future__ import annotations

from functools import partial

import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets import vault
from blender_dp.collector.storage.schema import campaigns, events, ledger, metadata, records
from blender_dp.errors import ParameterError, StateError
from blender_dp_device.digests import document_digest
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.wire.documents import verified_content
from tests.collector.places import NOON, Place, all_at_once, listed, report, settings, uploaded
from tests.collector.steps import DAY, counted, finished, released, rows, spent


def test_whole_life(rounds: Rounds) -> None:
    made = uploaded(rounds)
    assert rounds.lookup.round(made.round).state == "open"
    rounds.lifecycle.freeze(made.round)
    assert rounds.lookup.round(made.round).state == "listing"
    assert spent(rounds, made.round) == ["opt-in"]  # before anything is computed
    rounds.schedule.advance_due()
    found = rounds.lookup.round(made.round)
    assert found.state == "listed"
    assert spent(rounds, made.round) == ["opt-in", "client"]
    assert not rows(rounds, sa.select(records))
    assert rounds.keys.names() == []
    content = verified_content(
        rounds.published.document(found.head_list or "", "head-list") or b"", "head-list", rounds.signer.public
    )
    cells = HeadList.from_document(content["head_list"]).cell_count
    rounds.contributions.add_reports(made.round, [report(i, i % cells) for i in range(40)])
    rounds.lifecycle.close(made.round)
    rounds.schedule.advance_due()
    found = rounds.lookup.round(made.round)
    assert found.state == "released"
    body = rounds.published.document(found.release or "", "release") or b""
    assert document_digest(body) == found.release
    release = verified_content(body, "release", rounds.signer.public)
    assert release["release"]["manifest"]["reports"] == 40
    assert release["ledger"] == rounds.budgets.ledger()[-1].digest
    bundle = rounds.published.document(found.bundle or "", "bundle") or b""
    assert verified_content(bundle, "bundle", rounds.signer.public)["round"] == 1
    whats = [row.what for row in rows(rounds, sa.select(events.c.what).order_by(events.c.number))]
    assert whats == ["opened", "frozen", "listed", "closed", "released"]


def test_repeating_a_step_changes_nothing(rounds: Rounds) -> None:
    made = uploaded(rounds)
    for step in (rounds.lifecycle.freeze, rounds.lists.make, rounds.lifecycle.close, rounds.releases.make):
        if step == rounds.lifecycle.close:
            rounds.contributions.add_reports(made.round, [report(i) for i in range(5)])
        step(made.round)
        after = [rows(rounds, sa.select(table)) for table in metadata.sorted_tables]
        step(made.round)
        assert [rows(rounds, sa.select(table)) for table in metadata.sorted_tables] == after


def test_steps_out_of_order_do_nothing(rounds: Rounds) -> None:
    made = uploaded(rounds)
    for step in (rounds.lists.make, rounds.lifecycle.close, rounds.releases.make):
        step(made.round)
    assert rounds.lookup.round(made.round).state == "open"
    with pytest.raises(StateError):
        rounds.contributions.add_reports(made.round, [report(1)])
    rounds.lifecycle.freeze(made.round)
    with pytest.raises(StateError):
        rounds.contributions.upload_record(made.round, made.tokens[0], "late", None)
    assert len(rows(rounds, sa.select(records))) == 24
    rounds.lists.make(made.round)
    rounds.contributions.add_reports(made.round, [report(1), report(2)])
    rounds.lifecycle.close(made.round)
    with pytest.raises(StateError):
        rounds.contributions.add_reports(made.round, [report(3)])
    assert counted(rounds, made.round) == {0: 2}


def test_unknown_rounds_and_campaigns(rounds: Rounds) -> None:
    campaign = rounds.campaigns.create(settings())
    with pytest.raises(StateError) as missing:
        rounds.lookup.round("0" * 32)
    assert missing.value.kind == "missing"
    with pytest.raises(StateError) as unknown:
        rounds.lifecycle.open("0" * 32)
    assert unknown.value.kind == "missing"
    with pytest.raises(StateError) as refused:
        rounds.contributions.upload_record(rounds.lifecycle.open(campaign).id, vault.new_token(), "query", None)
    assert refused.value.kind == "forbidden"
    other = rounds.campaigns.create(settings("other"))
    with pytest.raises(StateError) as elsewhere:  # enrolled, but in another campaign
        rounds.contributions.upload_record(rounds.lookup.current(campaign).id, rounds.tokens.enrol(other)[0], "query", None)  # type: ignore[union-attr]
    assert elsewhere.value.kind == "forbidden"
    assert not rounds.contributions.withdraw(vault.new_token())
    assert rounds.published.document("0" * 64, "release") is None


def test_too_few_opt_in_users(rounds: Rounds) -> None:
    made = uploaded(rounds, users=5)
    rounds.lifecycle.freeze(made.round)
    found = rounds.lookup.round(made.round)
    assert (found.state, found.problem) == ("open", "too few opt-in users: 5, and the minimum is 6")
    assert spent(rounds, made.round) == []
    rounds.contributions.upload_record(made.round, rounds.tokens.enrol(made.campaign)[0], "alpha", None)
    rounds.lifecycle.freeze(made.round)
    assert (rounds.lookup.round(made.round).state, rounds.lookup.round(made.round).problem) == ("listing", None)


def test_an_unchanged_problem_is_not_written_again(rounds: Rounds) -> None:
    """The worker checks every second."""
    made, updates = uploaded(rounds, users=5), list[str]()
    rounds.lifecycle.freeze(made.round)
    listener = partial(_noted, updates)
    sa.event.listen(rounds.store.engine, "before_cursor_execute", listener)
    rounds.lifecycle.freeze(made.round)
    assert updates == []
    rounds.contributions.withdraw(made.receipts[0])
    rounds.lifecycle.freeze(made.round)
    assert len(updates) == 1
    assert rounds.lookup.round(made.round).problem == "too few opt-in users: 4, and the minimum is 6"


def _noted(updates: list[str], _: object, __: object, statement: str, *___: object) -> None:
    if statement.startswith("UPDATE"):
        updates.append(statement)


def test_too_few_reports(rounds: Rounds) -> None:
    made = listed(rounds)
    rounds.contributions.add_reports(made.round, [report(1), report(1)])
    rounds.lifecycle.close(made.round)
    found = rounds.lookup.round(made.round)
    assert (found.state, found.problem) == ("listed", "too few reports: 1, and the minimum is 2")
    rounds.contributions.add_reports(made.round, [report(2)])
    rounds.lifecycle.close(made.round)
    assert (rounds.lookup.round(made.round).state, rounds.lookup.round(made.round).problem) == ("closed", None)


@pytest.mark.parametrize("state", ["open", "listing", "listed", "closed"])
def test_abort(rounds: Rounds, state: str) -> None:
    made = uploaded(rounds)
    for step in {"open": [], "listing": [rounds.lifecycle.freeze]}.get(state, [rounds.lifecycle.freeze, rounds.lists.make]):
        step(made.round)
    if state in {"listed", "closed"}:
        rounds.contributions.add_reports(made.round, [report(i) for i in range(4)])
    if state == "closed":
        rounds.lifecycle.close(made.round)
    assert rounds.lookup.round(made.round).state == state
    before = rounds.budgets.ledger()
    rounds.lifecycle.abort(made.round, "enough")
    found = rounds.lookup.round(made.round)
    assert (found.state, found.problem, found.release) == ("aborted", "enough", None)
    assert rounds.budgets.ledger() == before  # what was spent stays spent
    assert rounds.keys.names() == []
    assert not rows(rounds, sa.select(records))
    with pytest.raises(StateError):
        rounds.lifecycle.abort(made.round, "again")
    rounds.schedule.advance_due()
    assert rounds.lookup.round(made.round).state == "aborted"
    assert rounds.lifecycle.open(made.campaign).number == 2


def test_a_delta_that_is_too_large_for_the_users_who_came_spends_nothing(rounds: Rounds) -> None:
    """It was small enough for the minimum number of users; more came, and one of them would probably be exposed."""
    made = uploaded(rounds, users=24, delta="0.05", min_opt_in=6)
    rounds.lifecycle.freeze(made.round)
    found = rounds.lookup.round(made.round)
    assert found.state == "open"
    assert "delta: 0.05 is not below 1 / 24 opt-in users" in (found.problem or "")
    assert rows(rounds, sa.select(ledger)) == []


def test_a_release_names_what_its_own_round_has_spent(rounds: Rounds) -> None:
    """Not what another campaign has spent since: an auditor of the ledger would look for the wrong entry."""
    made = listed(rounds)
    listed(rounds, name="other")
    finished(rounds, made.campaign)
    body = rounds.published.document(rounds.lookup.round(made.round).release or "", "release") or b""
    named = verified_content(body, "release", rounds.signer.public)["ledger"]
    assert [(entry.round, entry.group) for entry in rounds.budgets.ledger() if entry.digest == named] == [
        (made.round, "client")
    ]


def test_one_round_of_a_campaign_at_a_time(place: Place) -> None:
    several = [place.rounds() for _ in range(4)]
    campaign = several[0].campaigns.create(settings())
    came = all_at_once(*[lambda r=r: r.lifecycle.open(campaign) for r in several])
    assert sum(isinstance(one, StateError) for one in came) == 3, came
    assert several[0].lookup.round(several[0].lookup.current().id).number == 1  # type: ignore[union-attr]


def test_a_campaigns_name_is_unique(place: Place) -> None:
    several = [place.rounds() for _ in range(4)]
    came = all_at_once(*[lambda r=r: r.campaigns.create(settings()) for r in several])
    assert sum(isinstance(one, StateError) for one in came) == 3, came
    assert len(rows(several[0], sa.select(campaigns))) == 1


def test_the_current_round_is_the_one_opened_last_whatever_the_clock_says(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    assert rounds.lookup.current() is None
    assert rounds.lookup.newest_release() is None
    campaign = released(rounds)
    released(rounds, campaign)
    now[0] -= 10 * DAY
    third = rounds.lifecycle.open(campaign)
    assert rounds.lookup.current() == rounds.lookup.current(campaign) == third
    other = rounds.lifecycle.open(
        rounds.campaigns.create(settings("other"))
    )  # its first; the other campaign is at its third
    assert rounds.lookup.current() == other
    assert rounds.lookup.newest_release().number == 2  # type: ignore[union-attr]


def test_campaigns_do_not_hide_each_other(rounds: Rounds) -> None:
    one = released(rounds)
    first, release = rounds.lifecycle.open(one), rounds.lookup.newest_release(one)
    other = released(rounds, rounds.campaigns.create(settings("other")))
    second = rounds.lifecycle.open(other)
    assert (rounds.lookup.current(one), rounds.lookup.current(other), rounds.lookup.current()) == (first, second, second)
    assert rounds.lookup.newest_release(one) == release
    assert rounds.lookup.newest_release() == rounds.lookup.newest_release(other) != release
    empty = rounds.campaigns.create(settings("empty"))
    assert (rounds.lookup.current(empty), rounds.lookup.newest_release(empty)) == (None, None)
    for ask in (rounds.lookup.current, rounds.lookup.newest_release):
        with pytest.raises(StateError) as missing:
            ask("0" * 32)
        assert missing.value.kind == "missing"


@pytest.mark.parametrize("times", [(100, 100), (100, 99), (100, 699), (None, 0), (None, 599), (-1000, 599)])
def test_a_round_that_would_close_as_it_is_listed_is_not_opened(rounds: Rounds, times: tuple[int | None, int]) -> None:
    campaign = rounds.campaigns.create(settings())
    lists, closes = times
    with pytest.raises(ParameterError, match="closes_at"):
        rounds.lifecycle.open(campaign, lists_at=None if lists is None else NOON + lists, closes_at=NOON + closes)
    assert rounds.lookup.current() is None
    assert rounds.lifecycle.open(campaign, lists_at=NOON + 100, closes_at=NOON + 700).state == "open"


def test_no_budget_is_spent_on_a_list_that_would_already_be_expired(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings())
    made = rounds.lifecycle.open(campaign, closes_at=NOON + DAY)
    for token in rounds.tokens.enrol(campaign, 10):
        rounds.contributions.upload_record(made.id, token, "alpha", "https://one.example/")
    for late in (DAY - 599, DAY, 9 * DAY):
        now[0] = NOON + late
        rounds.lifecycle.freeze(made.id)
        found = rounds.lookup.round(made.id)
        assert (found.state, spent(rounds, made.id)) == ("open", [])
        assert "closes_at" in (found.problem or "")
    now[0] = NOON + DAY - 600
    rounds.lifecycle.freeze(made.id)
    assert rounds.lookup.round(made.id).state == "listing"
