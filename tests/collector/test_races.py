"""Several collectors on one database do everything at the same time."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.storage import locks, record_rows, report_rows, round_rows
from blender_dp.collector.storage.idempotency_rows import StoredResponse
from blender_dp.collector.storage.migrate import migrate
from blender_dp.collector.storage.schema import campaigns, events, ledger, objects, records
from blender_dp.collector.storage.schema import rounds as rounds_table
from blender_dp.errors import StateError
from tests.collector.places import Place, all_at_once, listed, report, settings, uploaded
from tests.collector.steps import counted, rows, spent


@pytest.mark.parametrize("attempt", range(3))
def test_workers_race(place: Place, attempt: int) -> None:
    """Four collectors do everything at the same time: every step happens once."""
    several = [place.rounds() for _ in range(4)]
    made = uploaded(several[0])
    assert all_at_once(*[lambda r=r: r.lifecycle.freeze(made.round) for r in several]) == [None] * 4
    assert all_at_once(*[lambda r=r: r.lists.make(made.round) for r in several]) == [None] * 4
    several[0].contributions.add_reports(made.round, [report(i) for i in range(10)])
    assert all_at_once(*[lambda r=r: r.lifecycle.close(made.round) for r in several]) == [None] * 4
    advanced = all_at_once(*[lambda r=r: r.schedule.advance_due() for r in several])
    assert [made.round] in advanced
    assert all(one in ([made.round], []) for one in advanced)  # one that starts late finds nothing to do
    assert several[0].lookup.round(made.round).state == "released"
    assert spent(several[0], made.round) == ["opt-in", "client"]
    kinds = sorted(row.kind for row in rows(several[0], sa.select(objects.c.kind)))
    assert kinds == ["bundle", "head-list", "opening", "release"]  # one of each: all four made the same bytes
    whats = [row.what for row in rows(several[0], sa.select(events.c.what).order_by(events.c.number))]
    assert whats == ["opened", "frozen", "listed", "closed", "released"]


def test_campaigns_freeze_concurrently(place: Place) -> None:
    """They share the ledger, and must not fork it."""
    several = [place.rounds() for _ in range(5)]
    made = [uploaded(r, name=f"campaign-{i}") for i, r in enumerate(several)]
    works = [lambda r=r, m=m: r.lifecycle.freeze(m.round) for r, m in zip(several, made, strict=True)]
    assert all_at_once(*works) == [None] * 5
    assert {entry.round for entry in several[0].budgets.ledger()} == {one.round for one in made}
    assert [entry.number for entry in several[0].budgets.ledger()] == [1, 2, 3, 4, 5]


def test_nothing_is_added_after_a_step(place: Place) -> None:
    """Uploads, reports and withdrawals that race with the end of their phase are either stored in time or refused."""
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


def test_a_step_waits_for_writers(postgresql: Place) -> None:
    """On PostgreSQL there are many writers: one that checked the state before a step must not write after it."""
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
    closing.join(120)
    assert one.lookup.round(made.round).state == "closed"
    assert counted(one, made.round) == {0: 4}


@pytest.mark.parametrize("writing", ["reports", "record", "withdrawal"])
def test_adding_and_withdrawing_hold_the_round(postgresql: Place, monkeypatch: pytest.MonkeyPatch, writing: str) -> None:
    """No step may happen between the check of the state and the commit: it would see incomplete data."""
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
        assert go_on.wait(120)
        return came

    monkeypatch.setattr(place, name, slow)
    with ThreadPoolExecutor(2) as pool:
        try:
            working = pool.submit(work)
            assert reached.wait(120)
            stepping = pool.submit(step, made.round)
            assert not wait([stepping], 0.3).done  # it waits
        finally:
            go_on.set()
        assert working.result(120) is not False
        stepping.result(120)
    assert one.lookup.round(made.round).state == state
    assert len(rows(one, sa.select(records))) == {"reports": 0, "record": 25, "withdrawal": 23}[writing]
    assert counted(one, made.round) == ({0: 4} if writing == "reports" else {})


def test_abort_races_with_the_list(place: Place) -> None:
    one, other = place.rounds(), place.rounds()
    made = uploaded(one)
    one.lifecycle.freeze(made.round)
    assert all_at_once(lambda: one.lists.make(made.round), lambda: other.lifecycle.abort(made.round, "stop")) == [None, None]
    assert one.lookup.round(made.round).state == "aborted"
    assert one.keys.names() == []


def test_work_is_done_once_per_key(place: Place) -> None:
    several = [place.rounds() for _ in range(4)]

    def create(rounds: Rounds) -> StoredResponse:
        return rounds.idempotency.once("key", "asked", 201, lambda inside: inside.campaigns.create(settings()))

    came = all_at_once(*[lambda r=r: create(r) for r in several])
    assert len(set(came)) == 1, came
    assert [row.id for row in rows(several[0], sa.select(campaigns.c.id))] == [came[0].body]
    assert several[1].idempotency.once("key", "something else", 200, lambda _: "never") == came[0]


def test_failed_work_stores_no_response(rounds: Rounds) -> None:
    rounds.campaigns.create(settings())
    with pytest.raises(StateError):
        rounds.idempotency.once("key", "asked", 201, lambda inside: inside.campaigns.create(settings()))
    assert rounds.idempotency.once("key", "asked", 201, lambda _: "now") == StoredResponse("asked", 201, "now")


def test_concurrent_migrations(empty_place: Place) -> None:
    stores = [empty_place.store() for _ in range(4)]
    assert all_at_once(*[lambda s=s: migrate(s) for s in stores]) == [None] * 4
    with stores[0].read() as connection:
        assert len(connection.scalars(sa.text("SELECT version_num FROM alembic_version")).all()) == 1


def test_a_read_sees_one_state(place: Place) -> None:
    one, other = place.rounds(), place.rounds()
    made = uploaded(one)
    states = sa.select(rounds_table.c.state)
    with one.store.read() as connection:
        assert connection.scalars(states).all() == ["open"]
        other.lifecycle.freeze(made.round)
        assert connection.scalars(states).all() == ["open"]
        assert connection.scalar(sa.select(sa.func.count()).select_from(ledger)) == 0  # from the same snapshot
    with one.store.read() as connection:
        assert connection.scalars(states).all() == ["listing"]
