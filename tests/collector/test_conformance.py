"""What every store must do, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import io
import json
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds import opt_in_listing as listing
from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.rounds.retention import Retention
from blender_dp.collector.secrets import vault
from blender_dp.collector.storage import locks, record_rows, report_rows, round_rows
from blender_dp.collector.storage import store as store_module
from blender_dp.collector.storage.idempotency_rows import StoredResponse
from blender_dp.collector.storage.migrate import migrate
from blender_dp.collector.storage.report_counting import count_in_database
from blender_dp.collector.storage.schema import campaigns, events, ledger, metadata, objects, records, reports
from blender_dp.collector.storage.schema import rounds as rounds_table
from blender_dp.collector.storage.timeouts import Timeouts
from blender_dp.engines import DuckDBEngine
from blender_dp.errors import DocumentError, ParameterError, StateError
from blender_dp_device.digests import document_digest
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.wire.documents import verified_content
from tests.collector.places import NOON, QUERIES, Place, all_at_once, listed, report, settings, uploaded

DAY = 86_400


def rows(rounds: Rounds, statement: Any) -> list[Any]:
    with rounds.store.read() as connection:
        return list(connection.execute(statement).all())


def spent(rounds: Rounds, name: str) -> list[str]:
    return [entry.group for entry in rounds.budgets.ledger() if entry.round == name]


def counted(rounds: Rounds, name: str) -> dict[int, int]:
    """How often every cell was counted."""
    with rounds.store.read() as connection:
        counts, _ = count_in_database(connection, name, 1000)
    return {int(cell): int(counts[cell]) for cell in np.flatnonzero(counts)}


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
    content = verified_content(rounds.published.document(found.head_list or "", "head-list") or b"", "head-list", rounds.signer.public)
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
    assert (
        verified_content(rounds.published.document(found.bundle or "", "bundle") or b"", "bundle", rounds.signer.public)["round"] == 1
    )
    whats = [row.what for row in rows(rounds, sa.select(events.c.what).order_by(events.c.number))]
    assert whats == ["opened", "frozen", "listed", "closed", "released"]


def test_every_step_done_over_changes_nothing(rounds: Rounds) -> None:
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


def test_what_is_not_there(rounds: Rounds) -> None:
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


def test_duplicates_at_once_count_once(place: Place) -> None:
    """Every thread sends all reports, in another order, and each report has a cell of its own."""
    several = [place.rounds() for _ in range(4)]
    made = listed(several[0])
    batch = [report(i, i) for i in range(300)]
    orders = [batch, batch[::-1], batch[150:] + batch[:150], batch[::2] + batch[1::2]]
    works = [
        lambda r=r, o=o: r.contributions.add_reports(made.round, o) for r, o in zip(several * 2, orders * 2, strict=True)
    ]
    assert all_at_once(*works) == [None] * 8
    assert counted(several[0], made.round) == dict.fromkeys(range(300), 1)


def test_a_report_twice_in_one_request_counts_once(rounds: Rounds) -> None:
    made = listed(rounds)
    rounds.contributions.add_reports(made.round, [report(1, 1), report(1, 1), report(2, 2), report(1, 3)])
    assert sum(counted(rounds, made.round).values()) == 2
    rounds.contributions.add_reports(made.round, [])
    assert sum(counted(rounds, made.round).values()) == 2


@pytest.mark.parametrize("cells", [(999_999).to_bytes(4, "little"), b"abc"])
def test_a_report_of_nonsense_is_found_and_said(rounds: Rounds, cells: bytes) -> None:
    """The service refuses it; if it got into the store all the same, the release must not be made of it."""
    made = listed(rounds)
    rounds.contributions.add_reports(made.round, [report(1), (bytes(16), cells)])
    rounds.lifecycle.close(made.round)
    with pytest.raises(DocumentError):
        rounds.schedule.advance_due()
    found = rounds.lookup.round(made.round)
    assert (found.state, found.problem) == (
        "closed",
        "reports: one names a cell that the list does not have. Abort the round.",
    )


def test_the_same_id_in_two_rounds_is_two_reports(rounds: Rounds) -> None:
    one, other = listed(rounds), listed(rounds, name="other")
    for made in (one, other):
        rounds.contributions.add_reports(made.round, [report(7, 5)])
    assert counted(rounds, one.round) == counted(rounds, other.round) == {5: 1}


@pytest.mark.parametrize("attempt", range(3))
def test_workers_race(place: Place, attempt: int) -> None:
    """Four collectors do everything at a time: every step happens once."""
    several = [place.rounds() for _ in range(4)]
    made = uploaded(several[0])
    assert all_at_once(*[lambda r=r: r.lifecycle.freeze(made.round) for r in several]) == [None] * 4
    assert all_at_once(*[lambda r=r: r.lists.make(made.round) for r in several]) == [None] * 4
    several[0].contributions.add_reports(made.round, [report(i) for i in range(10)])
    assert all_at_once(*[lambda r=r: r.lifecycle.close(made.round) for r in several]) == [None] * 4
    assert all_at_once(*[lambda r=r: r.schedule.advance_due() for r in several]) == [[made.round]] * 4
    assert several[0].lookup.round(made.round).state == "released"
    assert spent(several[0], made.round) == ["opt-in", "client"]
    kinds = sorted(row.kind for row in rows(several[0], sa.select(objects.c.kind)))
    assert kinds == ["bundle", "head-list", "opening", "release"]  # all four had made the same bytes, or there would be more
    whats = [row.what for row in rows(several[0], sa.select(events.c.what).order_by(events.c.number))]
    assert whats == ["opened", "frozen", "listed", "closed", "released"]


def test_campaigns_freeze_at_once(place: Place) -> None:
    """They share the ledger, and must not fork it."""
    several = [place.rounds() for _ in range(5)]
    made = [uploaded(r, name=f"campaign-{i}") for i, r in enumerate(several)]
    works = [lambda r=r, m=m: r.lifecycle.freeze(m.round) for r, m in zip(several, made, strict=True)]
    assert all_at_once(*works) == [None] * 5
    assert {entry.round for entry in several[0].budgets.ledger()} == {one.round for one in made}
    assert [entry.number for entry in several[0].budgets.ledger()] == [1, 2, 3, 4, 5]


def test_nothing_slips_in_behind_a_step(place: Place) -> None:
    """Uploads, reports and withdrawals that race with the end of their phase are in, or refused: never lost, never late."""
    several = [place.rounds() for _ in range(6)]
    made = uploaded(several[0])
    late = several[0].tokens.enrol(made.campaign, 3)
    came = all_at_once(
        lambda: several[0].lifecycle.freeze(made.round),
        *[lambda i=i: several[i].contributions.upload_record(made.round, late[i - 1], "late", None) for i in (1, 2, 3)],
        *[lambda i=i: several[i].contributions.withdraw(made.receipts[i]) for i in (4, 5)],
    )
    kept = 24 + sum(isinstance(one, str) for one in came[1:4]) - sum(one is True for one in came[4:])
    assert {type(one) for one in came[1:4]} <= {str, StateError}
    assert len(rows(several[0], sa.select(records))) == kept
    several[0].lists.make(made.round)
    several[0].contributions.add_reports(made.round, [report(i, 0) for i in range(2)])
    came = all_at_once(
        lambda: several[0].lifecycle.close(made.round),
        *[
            lambda i=i: several[i].contributions.add_reports(made.round, [report(i * 100 + k) for k in range(50)])
            for i in range(1, 6)
        ],
    )
    taken = 2 + 50 * sum(one is None for one in came[1:])
    assert {type(one) for one in came} <= {type(None), StateError}
    several[0].releases.make(made.round)
    assert counted(several[0], made.round) == {0: taken}
    body = json.loads(several[0].published.document(several[0].lookup.round(made.round).release or "", "release") or b"")
    assert body["content"]["release"]["manifest"]["reports"] == taken


def test_a_step_waits_for_whoever_is_writing(postgresql: Place) -> None:
    """On PostgreSQL writers are many: whoever checked the state before a step must not write after it."""
    one, other = postgresql.rounds(), postgresql.rounds()
    made = listed(one)
    one.contributions.add_reports(made.round, [report(i) for i in range(3)])
    with other.store.write("test") as connection:  # a report that is being stored
        locks.hold_round(connection, made.round, shared=True)
        closing = threading.Thread(target=one.lifecycle.close, args=(made.round,))
        closing.start()
        closing.join(0.3)
        assert closing.is_alive()  # it waits
        report_rows.insert(connection, made.round, [report(9)])
    closing.join(10)
    assert one.lookup.round(made.round).state == "closed"
    assert counted(one, made.round) == {0: 4}


@pytest.mark.parametrize("writing", ["reports", "record", "withdrawal"])
def test_whoever_adds_or_takes_back_holds_the_round(
    postgresql: Place, monkeypatch: pytest.MonkeyPatch, writing: str
) -> None:
    """Between the look at the state and the commit no step may be done: what it comes upon is not complete."""
    one, other = postgresql.rounds(), postgresql.rounds()
    made = listed(one) if writing == "reports" else uploaded(one)
    if writing == "reports":
        one.contributions.add_reports(made.round, [report(i) for i in range(3)])
    (late,) = one.tokens.enrol(made.campaign)
    place, name, work, step, state = {
        "reports": (
            report_rows,
            "insert",
            partial(one.contributions.add_reports, made.round, [report(9)]),
            other.lifecycle.close,
            "closed",
        ),
        "record": (
            record_rows,
            "put",
            partial(one.contributions.upload_record, made.round, late, "late", None),
            other.lifecycle.freeze,
            "listing",
        ),
        "withdrawal": (
            round_rows,
            "get",
            partial(one.contributions.withdraw, made.receipts[0]),
            other.lifecycle.freeze,
            "listing",
        ),
    }[writing]
    real, reached, go_on = getattr(place, name), threading.Event(), threading.Event()

    def slow(*given: Any, **more: Any) -> Any:
        came = real(*given, **more)
        reached.set()
        assert go_on.wait(10)
        return came

    monkeypatch.setattr(place, name, slow)
    with ThreadPoolExecutor(2) as pool:
        try:
            working = pool.submit(work)
            assert reached.wait(10)
            stepping = pool.submit(step, made.round)
            assert not wait([stepping], 0.3).done  # it waits
        finally:
            go_on.set()
        assert working.result(10) is not False
        stepping.result(10)
    assert one.lookup.round(made.round).state == state
    assert len(rows(one, sa.select(records))) == {"reports": 0, "record": 25, "withdrawal": 23}[writing]
    assert counted(one, made.round) == ({0: 4} if writing == "reports" else {})


def test_a_second_record_replaces_the_first(rounds: Rounds) -> None:
    made = uploaded(rounds, users=6)
    second = rounds.contributions.upload_record(made.round, made.tokens[0], "another", "https://two.example/")
    kept = rows(rounds, sa.select(records))
    assert len(kept) == 6
    assert not rounds.contributions.withdraw(made.receipts[0])  # the first receipt is void
    owner = vault.token_digest(made.tokens[0], made.round)
    (mine,) = [row for row in kept if row.owner == owner]
    key = rounds.keys.read(made.round)
    assert vault.unseal_record(key, f"{made.round}/{owner}", mine.sealed) == ("another", "https://two.example/")
    assert rounds.contributions.withdraw(second)


def test_one_user_uploads_many_times_at_once(place: Place) -> None:
    several = [place.rounds() for _ in range(6)]
    made = uploaded(several[0], users=6)
    came = all_at_once(
        *[lambda r=r: r.contributions.upload_record(made.round, made.tokens[0], "again", None) for r in several]
    )
    assert {type(one) for one in came} == {str}
    assert len(rows(several[0], sa.select(records))) == 6
    assert sum(several[0].contributions.withdraw(one) for one in came) == 1  # the last one's receipt is the one that is good


def test_withdraw(rounds: Rounds) -> None:
    made = uploaded(rounds, users=8)
    assert rounds.contributions.withdraw(made.receipts[0])
    assert len(rows(rounds, sa.select(records))) == 7
    rounds.lifecycle.freeze(made.round)
    assert not rounds.contributions.withdraw(made.receipts[1])
    assert len(rows(rounds, sa.select(records))) == 7


def test_records_have_one_length(rounds: Rounds) -> None:
    """Also those that are none: whoever has a copy of the database must not see who has a record."""
    campaign = rounds.campaigns.create(settings())
    name = rounds.lifecycle.open(campaign).id
    told = ["a", "b" * 250, "ä" * 300, "c" * 2000, "q" * 2048, '"' * 1000, "x" * 100_000, "", None, "joe@example.com"]
    for token, query in zip(rounds.tokens.enrol(campaign, len(told)), told, strict=True):
        rounds.contributions.upload_record(name, token, query, "https://one.example/")
    found = rows(rounds, sa.select(records.c.sealed))
    assert len(found) == len(told)
    assert {len(row.sealed) for row in found} == {2_048 + 12 + 16}  # with AES-GCM's nonce and tag


def test_too_few_opt_in_users(rounds: Rounds) -> None:
    made = uploaded(rounds, users=5)
    rounds.lifecycle.freeze(made.round)
    found = rounds.lookup.round(made.round)
    assert (found.state, found.problem) == ("open", "too few opt-in users: 5, and the minimum is 6")
    assert spent(rounds, made.round) == []
    rounds.contributions.upload_record(made.round, rounds.tokens.enrol(made.campaign)[0], "alpha", None)
    rounds.lifecycle.freeze(made.round)
    assert (rounds.lookup.round(made.round).state, rounds.lookup.round(made.round).problem) == ("listing", None)


def test_a_problem_that_was_said_is_not_written_again(rounds: Rounds) -> None:
    """The worker comes by every second."""
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


def released(rounds: Rounds, campaign: str | None = None, users: int = 24, **changes: Any) -> str:
    """A whole round; its campaign."""
    made = listed(rounds, users, campaign, **changes)
    rounds.contributions.add_reports(made.round, [report(i) for i in range(4)])
    rounds.lifecycle.close(made.round)
    rounds.releases.make(made.round)
    return made.campaign


def test_the_cap_refuses_and_says_so(rounds: Rounds) -> None:
    campaign = released(rounds, max_epsilon="16")
    released(rounds, campaign)  # 8 and 8 are 16, exactly the most
    made = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.freeze(made.round)
    found = rounds.lookup.round(made.round)
    assert found.state == "open"
    assert found.problem == "the budget of opt-in users is used up: ε would be 24, and the maximum is 16"
    assert spent(rounds, made.round) == []
    rounds.lists.make(made.round)
    assert rounds.lookup.round(made.round).head_list is None


def test_an_aborted_round_counts_towards_the_cap_once_it_has_spent(rounds: Rounds) -> None:
    campaign = rounds.campaigns.create(settings(max_epsilon="8"))
    early = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.abort(early.round, "before anything was spent")
    late = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.freeze(late.round)
    rounds.lifecycle.abort(late.round, "after it was spent")
    assert spent(rounds, early.round) == []
    assert spent(rounds, late.round) == ["opt-in"]
    refused = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.freeze(refused.round)
    assert rounds.lookup.round(refused.round).state == "open"


def test_the_cap_of_a_period_counts_from_when_it_was_spent(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings(period_epsilon="8", period_days=30))
    first = uploaded(rounds, campaign=campaign)
    now[0] += 29 * DAY  # a round that was open for long
    rounds.lifecycle.freeze(first.round)
    rounds.lifecycle.abort(first.round, "spent")
    second = uploaded(rounds, campaign=campaign)
    for days, state in ((2, "open"), (27.99, "open"), (0.1, "listing")):
        now[0] += days * DAY
        rounds.lifecycle.freeze(second.round)
        assert rounds.lookup.round(second.round).state == state


@pytest.mark.parametrize("end", ["close", "abort"])
def test_the_cap_of_a_period_counts_clients_as_long_as_they_can_report(place: Place, end: str) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    first = listed(rounds, period_epsilon="8", period_days=7)
    now[0] += 20 * DAY
    rounds.contributions.add_reports(first.round, [report(i) for i in range(4)])
    if end == "close":
        rounds.lifecycle.close(first.round)
        rounds.releases.make(first.round)
    else:
        rounds.lifecycle.abort(first.round, "enough")
    second = uploaded(rounds, campaign=first.campaign)
    for days, problem in ((0, "the budget of client users"), (6.9, "the budget of client users"), (0.2, "")):
        now[0] += days * DAY
        rounds.lifecycle.freeze(second.round)
        assert (rounds.lookup.round(second.round).problem or "").startswith(problem)
    assert rounds.lookup.round(second.round).state == "listing"


@pytest.mark.parametrize("epsilon", ["0.7", "2.2", "4.1"])
@pytest.mark.parametrize("delta", ["0.001", "0.00001"])
def test_a_budget_may_be_used_up_exactly(sqlite: Place, epsilon: str, delta: str) -> None:
    """2.2 is less than its nearest binary number, and 0.7 more: a limit is a decimal."""
    changes = {"epsilon": epsilon, "delta": delta, "period_days": 30}
    caps = {"max_epsilon": epsilon, "max_delta": delta, "period_epsilon": epsilon}
    rounds = sqlite.rounds()
    made = uploaded(rounds, users=6, **changes, **caps)
    rounds.lifecycle.freeze(made.round)
    assert rounds.lookup.round(made.round).state == "listing"
    rounds.lifecycle.abort(made.round, "spent")
    again = uploaded(rounds, users=6, campaign=made.campaign)
    rounds.lifecycle.freeze(again.round)
    assert "used up" in (rounds.lookup.round(again.round).problem or "")


def test_a_budget_is_not_exceeded_even_by_the_least(rounds: Rounds) -> None:
    made = uploaded(rounds, max_delta="0.019999999999999999999999")  # to a computer's own numbers that is 0.02
    rounds.lifecycle.freeze(made.round)
    rounds.lifecycle.abort(made.round, "spent")
    again = uploaded(rounds, campaign=made.campaign)
    rounds.lifecycle.freeze(again.round)
    assert "δ would be 0.02, and the maximum is 0.0199" in (rounds.lookup.round(again.round).problem or "")


@pytest.mark.parametrize("column", ["campaign", "user_group", "round"])
def test_what_was_spent_is_what_the_chain_says(rounds: Rounds, column: str) -> None:
    made = listed(rounds, max_epsilon="8")
    rounds.lifecycle.abort(made.round, "spent")
    with rounds.store.write("test") as connection:
        connection.execute(ledger.update().where(ledger.c.number == 1).values({column: "x"}))
    again = uploaded(rounds, campaign=made.campaign)
    rounds.lifecycle.freeze(again.round)
    assert "used up" in (rounds.lookup.round(again.round).problem or "")


def test_nobody_changes_when_it_was_spent(rounds: Rounds) -> None:
    made = listed(rounds, period_epsilon="8", period_days=30)
    rounds.lifecycle.abort(made.round, "spent")
    with rounds.store.write("test") as connection:
        connection.execute(sa.text("UPDATE ledger SET at = 0"))
    again = uploaded(rounds, campaign=made.campaign)
    rounds.lifecycle.freeze(again.round)  # the journal has the later date, and that is the one that counts
    assert "of 30 days would be 16, and the maximum is 8" in (rounds.lookup.round(again.round).problem or "")


def test_the_caps_of_a_campaign_and_of_a_period_hold_together(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings(max_epsilon="16", period_epsilon="8", period_days=30))
    for days, problem in ((0, None), (1, "of 30 days would be 16, and the maximum is 8"), (30, None), (60, "ε would be 24")):
        now[0] += days * DAY
        made = uploaded(rounds, campaign=campaign)
        rounds.lifecycle.freeze(made.round)
        assert (problem is None) == (rounds.lookup.round(made.round).state == "listing")
        assert (problem or "") in (rounds.lookup.round(made.round).problem or "")
        rounds.lifecycle.abort(made.round, "enough")


def test_the_cap_of_delta(rounds: Rounds) -> None:
    campaign = released(rounds, max_delta="0.15", delta="0.1", allow_weak_privacy=True)
    made = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.freeze(made.round)
    assert rounds.lookup.round(made.round).problem == (
        "the budget of opt-in users is used up: δ would be 0.2, and the maximum is 0.15"
    )


def test_what_is_spent_by_a_clock_that_has_gone_back_counts(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings(period_epsilon="8", period_days=30))
    first = uploaded(rounds, campaign=campaign)
    now[0] = 0.0
    rounds.lifecycle.freeze(first.round)
    rounds.lifecycle.abort(first.round, "spent in 1970")
    now[0] = float(NOON) + DAY
    second = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.freeze(second.round)
    assert rounds.lookup.round(second.round).state == "open"


def test_a_clock_that_has_gone_back_when_a_round_ends_shortens_no_period(place: Place) -> None:
    """An end before the beginning is none: its clients count for as long as its list could be answered."""
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    first = listed(rounds, period_epsilon="8", period_days=7, list_days=30)
    rounds.contributions.add_reports(first.round, [report(i) for i in range(4)])
    now[0] = 0.0
    rounds.lifecycle.close(first.round)
    rounds.releases.make(first.round)
    second = uploaded(rounds, campaign=first.campaign)
    for days, problem in ((21, "the budget of client users"), (36.9, "the budget of client users"), (37.1, "")):
        now[0] = NOON + days * DAY
        rounds.lifecycle.freeze(second.round)
        assert (rounds.lookup.round(second.round).problem or "").startswith(problem)
    assert rounds.lookup.round(second.round).state == "listing"


def test_nothing_is_spent_before_the_last_entry(place: Place) -> None:
    """Even if the round itself is of the time that the clock was wrong: the ledger knows better."""
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    rounds.lifecycle.freeze(uploaded(rounds, name="other").round)
    now[0] = 0.0
    first = uploaded(rounds, period_epsilon="8", period_days=30)
    rounds.lifecycle.freeze(first.round)
    rounds.lifecycle.abort(first.round, "opened and spent in 1970")
    now[0] = float(NOON) + 29 * DAY
    second = uploaded(rounds, campaign=first.campaign)
    rounds.lifecycle.freeze(second.round)
    assert "used up" in (rounds.lookup.round(second.round).problem or "")
    assert {row.at for row in rows(rounds, sa.select(ledger.c.at))} == {NOON // 3600 * 3600}


def test_a_period_is_not_an_hour_too_short(place: Place) -> None:
    """What is kept of a time is its hour, so that it may look an hour older than it is."""
    now = [NOON // 3600 * 3600 + 59 * 60.0]
    rounds = place.rounds(lambda: now[0])
    first = uploaded(rounds, period_epsilon="8", period_days=30)
    rounds.lifecycle.freeze(first.round)
    rounds.lifecycle.abort(first.round, "spent")
    second = uploaded(rounds, campaign=first.campaign)
    now[0] += 30 * DAY - 30 * 60
    rounds.lifecycle.freeze(second.round)
    assert "used up" in (rounds.lookup.round(second.round).problem or "")


def test_caps_of_campaigns_are_their_own(rounds: Rounds) -> None:
    released(rounds, max_epsilon="8")
    made = uploaded(rounds, name="other", max_epsilon="8")
    rounds.lifecycle.freeze(made.round)
    assert rounds.lookup.round(made.round).state == "listing"


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


def test_a_delta_that_is_too_large_for_those_who_came_spends_nothing(rounds: Rounds) -> None:
    """It was small enough for the fewest users of the campaign; more came, and one of them would probably be exposed."""
    made = uploaded(rounds, users=24, delta="0.05", min_opt_in=6)
    rounds.lifecycle.freeze(made.round)
    found = rounds.lookup.round(made.round)
    assert found.state == "open"
    assert "delta: 0.05 is not below 1 / 24 opt-in users" in (found.problem or "")
    assert rows(rounds, sa.select(ledger)) == []


@pytest.mark.parametrize("end", ["list", "abort"])
def test_what_fixed_the_noise_is_forgotten(rounds: Rounds, end: str) -> None:
    made = uploaded(rounds)
    rounds.lifecycle.freeze(made.round)
    assert rows(rounds, sa.select(rounds_table.c.noise))[0].noise is not None
    if end == "list":
        rounds.lists.make(made.round)
    else:
        rounds.lifecycle.abort(made.round, "enough")
    assert rows(rounds, sa.select(rounds_table.c.noise))[0].noise is None


def test_every_round_has_noise_of_its_own(rounds: Rounds) -> None:
    secrets = []
    for name in ("one", "two"):
        made = uploaded(rounds, users=6, name=name)
        rounds.lifecycle.freeze(made.round)
        (sealed,) = rows(rounds, sa.select(rounds_table.c.noise).where(rounds_table.c.id == made.round))
        secrets.append(vault.unseal_secret(rounds.keys.read(made.round), f"{made.round}/noise", sealed.noise).value)
    assert [len(one) for one in secrets] == [32, 32]
    assert len({*secrets, bytes(32)}) == 3


def test_raw_records_are_not_written_to_a_disk_while_the_list_is_made(
    rounds: Rounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, places = uploaded(rounds), []

    class Seen(DuckDBEngine):
        def __init__(self, **more: Any) -> None:
            super().__init__(**more)
            places.append(self._connection.cursor().execute("SELECT current_setting('temp_directory')").fetchone())

    monkeypatch.setattr("blender_dp.engines.DuckDBEngine", Seen)
    rounds.lifecycle.freeze(made.round)
    rounds.lists.make(made.round)
    assert places == [("",)]


@pytest.mark.parametrize("meanwhile", ["listed", "aborted"])
def test_who_comes_too_late_with_a_list_has_not_failed(
    place: Place, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    """The key is gone, and with it the way to the records: the one who was faster has destroyed it."""
    one, other = place.rounds(), place.rounds()
    made = uploaded(one)
    one.lifecycle.freeze(made.round)
    with monkeypatch.context() as patch:

        def overtaken(point: str) -> None:
            if point == "list: before work":
                patch.undo()
                other.lists.make(made.round) if meanwhile == "listed" else other.lifecycle.abort(made.round, "stop")

        patch.setattr("blender_dp.collector.rounds.list_maker.reached", overtaken)
        one.lists.make(made.round)
    assert one.lookup.round(made.round).state == meanwhile


def test_abort_races_with_the_list(place: Place) -> None:
    one, other = place.rounds(), place.rounds()
    made = uploaded(one)
    one.lifecycle.freeze(made.round)
    assert all_at_once(lambda: one.lists.make(made.round), lambda: other.lifecycle.abort(made.round, "stop")) == [None, None]
    assert one.lookup.round(made.round).state == "aborted"
    assert one.keys.names() == []


def listed_with(rounds: Rounds, campaign: str, queries: list[str]) -> set[tuple[str, Any]]:
    """Make a list of 24 users' queries; its entries."""
    made = rounds.lifecycle.open(campaign)
    for place, token in enumerate(rounds.tokens.enrol(campaign, 24)):
        rounds.contributions.upload_record(
            made.id, token, queries[place % len(queries)], None if len(queries) > 2 else "https://a.example/"
        )
    rounds.lifecycle.freeze(made.id)
    rounds.lists.make(made.id)
    return {*HeadList.from_document(content_of(rounds, made.id)["head_list"]).entries}


def finished(rounds: Rounds, campaign: str, first: int = 0) -> None:
    """Bring the current round from its list to its release."""
    name = rounds.lookup.current(campaign).id  # type: ignore[union-attr]
    rounds.contributions.add_reports(name, [report(first + i) for i in range(4)])
    rounds.lifecycle.close(name)
    rounds.releases.make(name)


def test_candidates_come_from_the_last_released_list_of_the_campaign(rounds: Rounds) -> None:
    campaign, other = rounds.campaigns.create(settings()), rounds.campaigns.create(settings("other"))
    known = listed_with(rounds, campaign, ["alpha", "beta"])
    finished(rounds, campaign)
    for _ in range(2):  # its second release is the newest, and later than the first of ours
        elsewhere = listed_with(rounds, other, ["gamma", "delta"])
        finished(rounds, other)
    aborted = listed_with(rounds, campaign, ["epsilon", "zeta"])
    rounds.lifecycle.abort(rounds.lookup.current(campaign).id, "its list does not count")  # type: ignore[union-attr]
    assert known
    assert elsewhere - known
    assert aborted - known - elsewhere
    listed_with(rounds, campaign, [f"rare {place}" for place in range(24)])  # nothing that the threshold would let pass
    with rounds.store.read() as connection:
        texts = connection.scalars(sa.text("SELECT listing FROM rounds WHERE number = 3")).all()
    found = listing.load(texts[0], settings().collection()).context.discovery
    assert found.is_candidate.any()
    assert {*found.head_list.entries} & known
    assert not {*found.head_list.entries} & ((aborted | elsewhere) - known)


def test_a_release_names_what_its_own_round_has_spent(rounds: Rounds) -> None:
    """Not what another campaign has spent meanwhile: whoever checks the ledger would look for the wrong entry."""
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


def test_a_campaigns_name_is_taken_once(place: Place) -> None:
    several = [place.rounds() for _ in range(4)]
    came = all_at_once(*[lambda r=r: r.campaigns.create(settings()) for r in several])
    assert sum(isinstance(one, StateError) for one in came) == 3, came
    assert len(rows(several[0], sa.select(campaigns))) == 1


def test_work_is_done_once_for_a_key(place: Place) -> None:
    several = [place.rounds() for _ in range(4)]

    def create(rounds: Rounds) -> StoredResponse:
        return rounds.idempotency.once("key", "asked", 201, lambda inside: inside.campaigns.create(settings()))

    came = all_at_once(*[lambda r=r: create(r) for r in several])
    assert len(set(came)) == 1, came
    assert [row.id for row in rows(several[0], sa.select(campaigns.c.id))] == [came[0].body]
    assert several[1].idempotency.once("key", "something else", 200, lambda _: "never") == came[0]


def test_work_that_fails_keeps_no_answer(rounds: Rounds) -> None:
    rounds.campaigns.create(settings())
    with pytest.raises(StateError):
        rounds.idempotency.once("key", "asked", 201, lambda inside: inside.campaigns.create(settings()))
    assert rounds.idempotency.once("key", "asked", 201, lambda _: "now") == StoredResponse("asked", 201, "now")


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


def test_a_list_that_would_be_expired_when_it_is_born_is_not_paid_for(place: Place) -> None:
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


def test_a_record_that_is_not_usable_is_a_user_without_a_record(rounds: Rounds) -> None:
    campaign = rounds.campaigns.create(settings())
    name = rounds.lifecycle.open(campaign).id
    told = [("Alpha ", "One.example"), ("joe@example.com", "one.example"), ("alpha", None), ("555 123 4567", "a.example")]
    for token, (query, url) in zip(rounds.tokens.enrol(campaign, 20), told * 5, strict=True):
        rounds.contributions.upload_record(name, token, query, url)
    key = rounds.keys.read(name)
    kept = [
        vault.unseal_record(key, f"{name}/{row.owner}", row.sealed)
        for row in rows(rounds, sa.select(records.c.owner, records.c.sealed))
    ]
    assert sorted(kept, key=str) == sorted([(None, None)] * 15 + [("alpha", "https://one.example/")] * 5, key=str)
    rounds.lifecycle.freeze(name)
    rounds.lists.make(name)
    with rounds.store.read() as connection:
        text = connection.scalar(sa.text("SELECT listing FROM rounds"))
    found = json.loads(text or "")
    assert found["discovery_users"] + found["calibration_users"] == 20  # all of them count, whatever they have uploaded


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


def test_a_scheduled_step_that_is_refused_is_tried_again_in_the_next_hour(place: Place) -> None:
    """A round that goes on in the very second when it has enough users tells everybody when the last of them came."""
    now = [float(NOON // 3600 * 3600 + 1800)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings())
    made = rounds.lifecycle.open(campaign, lists_at=int(now[0]) + 60, closes_at=int(now[0]) + 4 * 3600)
    tokens = rounds.tokens.enrol(campaign, 6)

    def state_after(seconds: int) -> str:
        now[0] += seconds
        place.rounds(lambda: now[0]).schedule.advance_due()  # another process knows it too
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


def test_a_step_refused_by_hand_does_not_put_off_the_schedule(place: Place) -> None:
    now = [float(NOON // 3600 * 3600)]
    rounds = place.rounds(lambda: now[0])
    made = rounds.lifecycle.open(rounds.campaigns.create(settings()), lists_at=int(now[0]) + 60)
    rounds.lifecycle.freeze(made.id)
    for token in rounds.tokens.enrol(made.campaign, 6):
        rounds.contributions.upload_record(made.id, token, "alpha", "https://one.example/")
    now[0] += 60
    rounds.schedule.advance_due()
    assert rounds.lookup.round(made.id).state == "listed"


def test_a_round_that_is_stuck_holds_up_no_other(rounds: Rounds) -> None:
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


def scheduled(rounds: Rounds, name: str = "searches") -> str:
    """A round whose list is due."""
    campaign = rounds.campaigns.create(settings(name))
    made = rounds.lifecycle.open(campaign, lists_at=NOON)
    for token in rounds.tokens.enrol(campaign, 10):
        rounds.contributions.upload_record(made.id, token, "alpha", None)
    return made.id


def test_a_step_that_fails_right_after_another_says_so(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    name = scheduled(rounds)

    def fail(*_: object) -> None:
        raise KeyError

    monkeypatch.setattr(listing, "make", fail)
    with pytest.raises(KeyError):
        rounds.schedule.advance_due()
    found = rounds.lookup.round(name)
    assert (found.state, found.problem) == ("listing", "the work failed: KeyError; it will be repeated")


def test_a_first_step_that_fails_says_so(rounds: Rounds) -> None:
    name = scheduled(rounds)
    rounds.journal.path.write_bytes(b"nonsense\n")
    with pytest.raises(DocumentError):
        rounds.schedule.advance_due()
    assert rounds.lookup.round(name).state == "open"
    assert "has an invalid line" in (rounds.lookup.round(name).problem or "")


def test_a_failure_that_cannot_be_told_holds_up_no_other_round(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck, well = scheduled(rounds), scheduled(rounds, "other")
    rounds.lifecycle.freeze(stuck)
    rounds.keys.destroy(stuck)

    def fail(*_: object) -> None:
        raise sa.exc.OperationalError("", {}, OSError())

    monkeypatch.setattr(rounds.lifecycle, "note_problem", fail)
    with pytest.raises(DocumentError):  # what failed first, not that it cannot be told
        rounds.schedule.advance_due()
    assert rounds.lookup.round(well).state == "listed"


@pytest.mark.parametrize(
    "queries",
    [
        ["x"] * 6,
        ["\x00", "\x00", "a\x00b", "a\x00b", "\u2028", "\U0010ffff"] * 2,
        ["", " ", "\t", "\n", "", " "] * 2,
        ["ﬁ", "ß", "İ", "e\u0301", "\u202e", "🏳️‍🌈"] * 2,
        ['"', "'", "'; DROP TABLE rounds; --", "\\", "{", "%s"] * 2,
        ["q" * 2048] * 12,
    ],
)
def test_nobodys_record_can_stop_the_list(rounds: Rounds, queries: list[str]) -> None:
    """The budget is spent when the list is made: whatever was uploaded, it must come to an end."""
    campaign = rounds.campaigns.create(settings(min_opt_in=4, f_o="0.9"))
    made = rounds.lifecycle.open(campaign)
    for place, (token, query) in enumerate(zip(rounds.tokens.enrol(campaign, len(queries)), queries, strict=True)):
        rounds.contributions.upload_record(made.id, token, query, query if place % 2 else None)
    rounds.lifecycle.freeze(made.id)
    rounds.lists.make(made.id)
    rounds.contributions.add_reports(made.id, [report(1), report(2)])
    rounds.lifecycle.close(made.id)
    rounds.releases.make(made.id)
    assert rounds.lookup.round(made.id).state == "released"


@pytest.mark.parametrize("f_o", ["0.1", "0.999"])
def test_a_group_may_turn_out_empty(rounds: Rounds, f_o: str) -> None:
    """Users are parted by chance: with few of them one of the two groups can have nobody."""
    made = uploaded(rounds, users=6, f_o=f_o)
    rounds.lifecycle.freeze(made.round)
    rounds.lists.make(made.round)
    rounds.contributions.add_reports(made.round, [report(1), report(2)])
    rounds.lifecycle.close(made.round)
    rounds.releases.make(made.round)
    assert rounds.lookup.round(made.round).state == "released"


def test_migrations_at_once(place: Place) -> None:
    stores = [place.store() for _ in range(4)]
    assert all_at_once(*[lambda s=s: migrate(s) for s in stores]) == [None] * 4
    with stores[0].read() as connection:
        assert len(connection.scalars(sa.text("SELECT version_num FROM alembic_version")).all()) == 1


def test_the_listing_is_kept_exactly(rounds: Rounds) -> None:
    made = listed(rounds, users=60)
    with rounds.store.read() as connection:
        text = connection.scalar(sa.text("SELECT listing FROM rounds WHERE id = :id"), {"id": made.round})
    collection = settings().collection()
    assert listing.dump(listing.load(text, collection), collection) == text
    assert QUERIES[0] in text


def test_the_ledger_says_what_was_promised(rounds: Rounds) -> None:
    made = listed(rounds)
    promises = settings().collection().promises()
    entries = rounds.budgets.ledger()
    assert [entry.loss for entry in entries] == [promise.loss for promise in promises]
    assert entries[0].loss.epsilon == Fraction(8)
    row = {"number": 9, "campaign": made.campaign, "round": made.round, "at": 0, "entry": "", "digest": "x"}
    with (
        rounds.store.write("test") as connection,
        pytest.raises(sa.exc.IntegrityError, match=r"(?i)unique"),
    ):  # it spends once
        connection.execute(ledger.insert(), {**row, "user_group": "opt-in"})


def test_errors_do_not_quote_what_was_to_be_stored(rounds: Rounds) -> None:
    row = {"receipt": None, "round": "no such round", "owner": "canary", "sealed": b"canary"}
    with rounds.store.engine.connect() as connection, pytest.raises(sa.exc.IntegrityError) as refused:
        connection.execute(records.insert(), row)
    assert "[SQL parameters hidden" in str(refused.value)


def content_of(rounds: Rounds, name: str) -> dict[str, Any]:
    body = rounds.published.document(rounds.lookup.round(name).head_list or "", "head-list") or b""
    return verified_content(body, "head-list", rounds.signer.public)


def test_every_list_expires(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    made = uploaded(rounds, list_days=3)
    rounds.lifecycle.freeze(made.round)
    now[0] += 5 * DAY  # a worker that comes late makes the same list
    rounds.lists.make(made.round)
    assert content_of(rounds, made.round)["expires"] == NOON // 3600 * 3600 + 3 * DAY
    rounds.lifecycle.abort(made.round, "enough")
    timed = rounds.lifecycle.open(made.campaign, closes_at=NOON + 77 * DAY)
    for token in made.tokens:
        rounds.contributions.upload_record(timed.id, token, "alpha", None)
    rounds.lifecycle.freeze(timed.id)
    rounds.lists.make(timed.id)
    assert content_of(rounds, timed.id)["expires"] == NOON + 77 * DAY


def test_a_key_that_never_got_a_round_is_destroyed_after_a_day(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    rounds.keys.create("orphan")
    os.utime(rounds.keys.folder / "orphan.key", (0, 0))  # how old it is says nothing
    for _ in range(2):
        rounds.schedule.advance_due()
        assert rounds.keys.names() == ["orphan"]  # a database without a round knows nothing about keys
        now[0] += 2 * DAY
    made = uploaded(rounds)
    for seconds, left in ((0, ["orphan"]), (DAY - 60, ["orphan"]), (60, [])):
        now[0] += seconds
        rounds.schedule.advance_due()
        assert rounds.keys.names() == sorted([*left, made.round])  # it may be a round's that is being opened


def test_an_old_database_that_is_put_back_for_an_hour_costs_no_key(place: Place, tmp_path: Path) -> None:
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


def test_a_key_that_was_strange_once_is_not_so_for_ever(place: Place, tmp_path: Path) -> None:
    """Since when counts from the last time: it was known in between."""
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


def test_a_clock_that_ran_ahead_spoils_no_later_dates(place: Place) -> None:
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
    assert rounds.retention.delete_reports() == 4  # they were not to be kept at all
    capped = uploaded(rounds, name="capped", period_epsilon="8", period_days=30)
    rounds.lifecycle.freeze(capped.round)
    rounds.lifecycle.abort(capped.round, "spent")
    now[0] += 31 * DAY
    again = uploaded(rounds, campaign=capped.campaign)
    rounds.lifecycle.freeze(again.round)
    assert rounds.lookup.round(again.round).state == "listing"


@pytest.mark.parametrize("kept", [0, 2])
def test_reports_are_forgotten_after_the_release(place: Place, monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
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
    with pytest.raises(StateError):  # a duplicate that comes late is not counted anew
        rounds.contributions.add_reports(made.round, [report(1)])
    rounds.schedule.advance_due()
    assert rounds.lookup.round(made.round) == before
    assert rounds.retention.delete_reports() == 0


def test_a_part_of_the_reports_is_no_export(rounds: Rounds) -> None:
    made = listed(rounds, keep_reports_days=9)
    rounds.contributions.add_reports(made.round, [report(i) for i in range(40)])
    rounds.lifecycle.close(made.round)
    assert b"".join(rounds.published.reports(made.round))
    rounds.releases.make(made.round)
    assert b"".join(rounds.published.reports(made.round))
    with rounds.store.write("test") as connection:  # they are being forgotten
        connection.execute(reports.delete().where(reports.c.id == report(7)[0]))
    with pytest.raises(StateError, match="reports were deleted"):
        rounds.published.reports(made.round)


def test_an_export_does_not_tell_who_came_first(place: Place) -> None:
    if place.server:  # an index would happen to be in the right order; a table that is read through is in that of arrival
        with place.store().engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            for way in ("indexscan", "indexonlyscan", "bitmapscan"):
                connection.execute(sa.text(f"ALTER DATABASE {place.database} SET enable_{way} = off"))
    rounds = place.rounds()
    made = listed(rounds, users=60)
    for i in (500, 0, 900):
        rounds.contributions.add_reports(made.round, [report(i + k, 0 if i else 1) for k in range(3)])
    rounds.lifecycle.close(made.round)
    table = pq.read_table(io.BytesIO(b"".join(rounds.published.reports(made.round))))
    assert table["cell"].to_pylist() == [1] * 3 + [0] * 6


def test_a_step_that_was_done_is_not_said_to_have_failed(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_the_reports_of_an_aborted_round_are_forgotten_by_and_by(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody who aborts waits for it, and nobody who writes meanwhile waits long."""
    monkeypatch.setattr("blender_dp.collector.rounds.retention._DELETED", 7)
    made, other = listed(rounds, keep_reports_days=9), listed(rounds, name="other")
    for name in (made.round, other.round):
        rounds.contributions.add_reports(name, [report(i) for i in range(40)])
    rounds.lifecycle.abort(made.round, "enough")
    assert len(rows(rounds, sa.select(reports))) == 80
    assert rounds.retention.delete_reports() == 40
    assert [row.round for row in rows(rounds, sa.select(reports.c.round))] == [other.round] * 40


def test_what_nobody_thought_of_is_said_without_its_text(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_who_has_claimed_a_round_and_goes_frees_it(place: Place) -> None:
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


def test_a_server_with_another_usage_is_told_ours(postgresql: Place) -> None:
    """A report must see that the round was closed while it waited, or it is acknowledged and never counted."""
    with postgresql.store().engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        for usage in ("default_transaction_isolation = 'repeatable read'", "synchronous_commit = off"):
            connection.execute(sa.text(f"ALTER DATABASE {postgresql.database} SET {usage}"))
    one, other = postgresql.rounds(), postgresql.rounds()
    made = listed(one)
    one.contributions.add_reports(made.round, [report(i) for i in range(3)])
    with one.store.write("test") as connection:
        assert connection.scalar(sa.text("SHOW transaction_isolation")) == "read committed"
        locks.hold_round(connection, made.round)
        with ThreadPoolExecutor(1) as pool:
            late = pool.submit(other.contributions.add_reports, made.round, [report(9)])
            while not rows(one, sa.text("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")):
                assert not late.done()
            round_rows.advance(connection, made.round, "listed", {"state": "closed"})
            connection.commit()
            with pytest.raises(StateError):
                late.result(10)
    assert counted(one, made.round) == {0: 3}


def test_a_look_sees_one_state(place: Place) -> None:
    one, other = place.rounds(), place.rounds()
    made = uploaded(one)
    states = sa.select(rounds_table.c.state)
    with one.store.read() as connection:
        assert connection.scalars(states).all() == ["open"]
        other.lifecycle.freeze(made.round)
        assert connection.scalars(states).all() == ["open"]
        assert connection.scalar(sa.select(sa.func.count()).select_from(ledger)) == 0  # of the same moment
    with one.store.read() as connection:
        assert connection.scalars(states).all() == ["listing"]


def test_every_connection_to_sqlite_is_durable_and_forgets_well(sqlite: Place) -> None:
    store = sqlite.rounds().store
    asked = {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "foreign_keys": 1}
    with store.read() as one, store.read() as another:
        for connection in (one, another):
            assert {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in asked} == asked


def test_a_lock_that_is_never_freed_is_given_up(postgresql: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "TIMEOUTS", Timeouts(lock=0.2))
    one, other = postgresql.rounds(), postgresql.rounds()
    made = listed(one)
    with other.store.write("test") as connection:
        locks.hold_round(connection, made.round)
        with pytest.raises(sa.exc.OperationalError, match="lock timeout"):
            one.contributions.add_reports(made.round, [report(1)])
    one.contributions.add_reports(made.round, [report(1)])
    assert counted(one, made.round) == {0: 1}
