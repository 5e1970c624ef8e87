"""The storage goes away and comes back: nothing acknowledged is lost, and nothing has to be restarted."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.rounds.report_writer import ReportWriter
from blender_dp.collector.storage import postgresql as module
from blender_dp.collector.storage.circuit_breaker import DatabaseSilentError
from blender_dp.collector.storage.schema import reports
from blender_dp.collector.storage.store import Store
from blender_dp.collector.worker import Worker
from blender_dp.errors import StateError
from tests.collector.places import NOON, Place, Server, listed, report, uploaded


def stored(rounds: Rounds) -> set[int]:
    with rounds.store.read() as connection:
        return {int.from_bytes(bytes(key), "big") for key in connection.scalars(sa.select(reports.c.id))}


def until(rounds: Rounds, name: str, state: str, seconds: float = 40) -> None:
    """Wait for a state; after an outage, requests are refused for a moment longer."""
    end, found = time.monotonic() + seconds, None
    while found != state:
        assert time.monotonic() < end, found
        time.sleep(0.02)
        with suppress(DatabaseSilentError):
            found = rounds.lookup.round(name).state


@pytest.fixture
def own_server(tmp_path: Path) -> Server:  # type: ignore[misc]
    """A server that no other test uses."""
    made = Server()
    yield made  # type: ignore[misc]
    made.start()
    made.remove()


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_postgresql_goes_away_and_comes_back(own_server: Server, tmp_path: Path, how: str) -> None:
    place = Place.new(tmp_path / "place", own_server)
    rounds = place.rounds(lambda: NOON)
    other = place.rounds()
    made = listed(rounds)
    rounds.contributions.add_reports(made.round, [report(i) for i in range(10)])
    waiting = uploaded(rounds, name="other")
    rounds.lifecycle.freeze(waiting.round)
    if how == "stop":
        place.close()  # a server that is stopped properly waits for its connections
        own_server.stop()
    else:
        own_server.kill()
    worker = Worker(other, 0.05)
    worker.start()
    with pytest.raises(sa.exc.OperationalError):
        rounds.contributions.add_reports(made.round, [report(99)])
    time.sleep(0.3)  # the worker has failed in the meantime
    own_server.start()
    until(rounds, waiting.round, "listed")  # it has recovered by itself
    rounds.contributions.add_reports(made.round, [report(i) for i in range(5, 15)])
    assert stored(rounds) == set(range(15))
    rounds.budgets.ledger()
    worker.stop()
    place.close()


def test_nothing_listens() -> None:
    store = Store.open("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(sa.exc.OperationalError), store.read():
        pass
    store.close()


def test_a_connection_whose_session_cannot_be_configured_is_closed(postgresql: Place, monkeypatch) -> None:
    """The server may go away just after it accepted a connection."""
    opened: list[module.LimitedConnection] = []

    def broken(connection: module.LimitedConnection, _: object) -> None:
        opened.append(connection)
        raise psycopg.OperationalError("the server went away")

    monkeypatch.setattr(module, "_prepare", broken)
    store = Store.open(postgresql.url)
    with pytest.raises(sa.exc.OperationalError), store.read():
        pass
    store.close()
    assert [one.closed for one in opened] == [True]


def test_a_file_that_cannot_be_written(sqlite: Place) -> None:
    """Root may write to any file, so the connection is made read-only instead."""
    rounds = sqlite.rounds()
    made = listed(rounds)
    rounds.contributions.add_reports(made.round, [report(1)])
    rounds.store.close()
    sa.event.listen(rounds.store.engine, "connect", _read_only)
    with pytest.raises(sa.exc.OperationalError, match="readonly"):
        rounds.contributions.add_reports(made.round, [report(2)])
    assert stored(rounds) == {1}
    sa.event.remove(rounds.store.engine, "connect", _read_only)
    rounds.store.close()
    rounds.contributions.add_reports(made.round, [report(2)])
    assert stored(rounds) == {1, 2}


def _read_only(connection, _) -> None:
    connection.execute("PRAGMA query_only = ON")


def test_a_full_disk(sqlite: Place) -> None:
    rounds = sqlite.rounds()
    made = listed(rounds)
    waiting = uploaded(rounds, name="other")
    rounds.lifecycle.freeze(waiting.round)
    with rounds.store.read() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    rounds.store.close()

    def limited(connection, _) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    sa.event.listen(rounds.store.engine, "connect", limited)
    batches = [[report(b * 100 + i) for i in range(100)] for b in range(20)]
    taken = []
    for number, batch in enumerate(batches):
        try:
            rounds.contributions.add_reports(made.round, batch)
        except sa.exc.OperationalError as error:
            assert "database or disk is full" in str(error)  # noqa: PT017 (some get in before)
        else:
            taken.append(number)
    assert len(taken) < 20
    assert stored(rounds) == {b * 100 + i for b in taken for i in range(100)}  # all of a batch, or nothing
    sa.event.remove(rounds.store.engine, "connect", limited)
    rounds.store.close()
    for batch in batches:
        rounds.contributions.add_reports(made.round, batch)
    assert stored(rounds) == set(range(2000))
    rounds.schedule.advance_due()
    assert rounds.lookup.round(waiting.round).state == "listed"


def test_the_collector_waits_for_a_locked_database(sqlite: Place) -> None:
    rounds, other = sqlite.rounds(), sqlite.rounds()
    made = listed(rounds)
    with other.store.write("test"):
        late = threading.Thread(target=rounds.contributions.add_reports, args=(made.round, [report(1)]))
        late.start()
        late.join(0.3)
        assert late.is_alive()
        assert stored(rounds) == set()  # readers are not blocked
    late.join(120)
    assert stored(rounds) == {1}


def test_the_worker_survives_every_error(sqlite: Place) -> None:
    rounds = sqlite.rounds()
    made = uploaded(rounds)
    rounds.lifecycle.freeze(made.round)
    calls = []
    real = rounds.schedule.advance_due

    def fails_first() -> list[str]:
        calls.append(1)
        if len(calls) < 3:
            raise KeyError("something that nobody thought of")
        return real()

    rounds.schedule.advance_due = fails_first  # type: ignore[method-assign]
    worker = Worker(rounds, 0.01)
    worker.start()
    until(rounds, made.round, "listed")
    worker.stop()


def test_a_client_that_goes_away_does_not_stop_the_report_writer(sqlite: Place) -> None:
    """A request that is cancelled while it waits must not affect the others."""
    rounds = sqlite.rounds()
    made = listed(rounds)
    intake = ReportWriter(rounds.contributions)

    async def scene() -> None:
        with rounds.store.write("test"):  # so that they have to wait
            first = asyncio.ensure_future(intake.add(made.round, [report(1)]))
            await asyncio.sleep(0.1)
            impatient = [asyncio.ensure_future(intake.add(made.round, [report(i)])) for i in (2, 3)]
            await asyncio.sleep(0.1)
            for one in (first, *impatient):
                one.cancel()
            await asyncio.gather(first, *impatient, return_exceptions=True)
            last = asyncio.ensure_future(intake.add(made.round, [report(4)]))
            await asyncio.sleep(0.1)
        await asyncio.wait_for(last, 120)
        with pytest.raises(StateError):
            await intake.add("0" * 32, [report(5)])
        await asyncio.gather(*[intake.add(made.round, [report(i)]) for i in range(10, 30)])

    asyncio.run(scene())
    assert {4, *range(10, 30)} <= stored(rounds)
    intake.stop()
    with pytest.raises(StateError):
        asyncio.run(intake.add(made.round, [report(50)]))
    assert 50 not in stored(rounds)
