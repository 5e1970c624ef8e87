"""A collector disappears silently at any point: another one takes over, and the first does no harm when it wakes."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.storage import crash_points as faults
from blender_dp.collector.storage import store as store_module
from blender_dp.collector.storage.schema import tokens
from blender_dp.collector.storage.timeouts import TIMEOUTS
from blender_dp.errors import StateError
from tests.collector.children import SERVER, Bare
from tests.collector.disappearing import SHORT, freeze_at, wait_until_frozen, wake
from tests.collector.driver import live
from tests.collector.places import Place, Server, listed, report, settings, uploaded
from tests.collector.test_crash import bodies, check_finished

# A transaction holds its locks until its commit; after it, only a claim on a list or a release is left.
_OTHERS = ("forget", "redate")  # they have their own drivers
POINTS = [
    point
    for point in faults.POINTS
    if not point.startswith(_OTHERS) and (not point.endswith(": after commit") or point.startswith(("list", "release")))
]


@pytest.fixture(autouse=True)
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "TIMEOUTS", SHORT)


def test_the_shipped_limits_add_up_to_less_than_a_minute() -> None:
    worker_pass = 1.0
    assert TIMEOUTS.takeover + worker_pass < 60
    assert TIMEOUTS.idle < TIMEOUTS.lock <= TIMEOUTS.statement  # a waiting transaction outlives a silent holder
    assert TIMEOUTS.statement + TIMEOUTS.idle < TIMEOUTS.startup_lock < 60  # and a start outlives all of them
    assert 3 * TIMEOUTS.renewal < TIMEOUTS.lease  # a renewal may fail twice
    request = TIMEOUTS.pool + TIMEOUTS.ping + TIMEOUTS.connect + TIMEOUTS.statement + TIMEOUTS.margin
    assert request < 60  # to be refused, or to wait for one statement that never returns


@pytest.fixture
def shared(server: Server, tmp_path: Path, point: str) -> Iterator[Place]:
    """A place with all tables, unless creating them is what is interrupted."""
    made = Place.new(tmp_path / "place", server, empty=point.startswith("migration"))
    yield made
    made.remove()


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc to see that a process is frozen")
@pytest.mark.parametrize("point", POINTS)
def test_another_collector_takes_over(shared: Place, point: str) -> None:
    frozen = SERVER.Process(target=freeze_at, args=(Bare.of(shared), point))
    frozen.start()
    try:
        wait_until_frozen(frozen.pid)
        began = time.monotonic()
        finished = eventually(lambda: live(shared))
        taken = time.monotonic() - began
        check_finished(finished)
        published = bodies(finished)
        wake(frozen.pid)
        frozen.join(60)
        assert frozen.exitcode is not None
    finally:
        frozen.kill()
    assert published.items() <= bodies(finished).items()
    check_once(finished)
    assert taken < 60  # a hang limit: with the short timeouts it is a few seconds


def eventually(work: Callable[[], Any], seconds: float = 60) -> Any:
    """Retry until it works, as an operator, a device or a supervisor would."""
    end = time.monotonic() + seconds
    while True:
        try:
            return work()
        except (sa.exc.SQLAlchemyError, StateError):
            assert time.monotonic() < end, "nobody took over"
            time.sleep(0.1)


def check_once(rounds: Rounds) -> None:
    """Every step of the first round was taken exactly once."""
    with rounds.store.read() as connection:
        happened = Counter(connection.scalars(sa.text(
            "SELECT what FROM events WHERE round = (SELECT id FROM rounds WHERE number = 1)"
        )))  # fmt: skip
    assert happened == {"opened": 1, "frozen": 1, "listed": 1, "closed": 1, "released": 1}
    rounds.budgets.ledger()


def test_a_lost_lease_commits_nothing(postgresql: Place) -> None:
    one, other = postgresql.rounds(), postgresql.rounds()
    made = uploaded(one)
    one.lifecycle.freeze(made.round)
    with other.store.claim(made.round) as lost:
        assert lost is not None
        lost._ended.set()  # it is no longer renewed
        claims = claims_of(one, made.round)
        claim = next(claims)
        with pytest.raises(StateError, match="taken over"):
            other.lists.make(made.round, lost)
        assert one.lookup.round(made.round).state == "listing"
        one.lists.make(made.round, claim)
        claims.close()
    assert one.lookup.round(made.round).state == "listed"
    one.contributions.add_reports(made.round, [report(i) for i in range(3)])
    one.lifecycle.close(made.round)
    with pytest.raises(StateError, match="taken over"):
        other.releases.make(made.round, lost)
    one.schedule.advance_due()
    assert one.lookup.round(made.round).state == "released"


def claims_of(rounds: Rounds, name: str) -> Generator[Any, None, None]:
    """Yield a claim as soon as it is available, and hold it until the generator is closed."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with rounds.store.claim(name) as claim:
            if claim:
                yield claim
        time.sleep(0.05)
    pytest.fail("nobody took over")


def test_a_lease_is_renewed_as_long_as_the_work_takes(postgresql: Place) -> None:
    one, other = postgresql.rounds(), postgresql.rounds()
    with one.store.claim("work") as ours:
        end = time.monotonic() + 3 * SHORT.lease
        while time.monotonic() < end:
            with other.store.claim("work") as theirs:
                assert theirs is None
            time.sleep(0.1)
        with one.store.write("test") as connection:
            ours.check(connection)
    with other.store.claim("work") as theirs:
        assert theirs is not None


def test_every_session_has_limits(postgresql: Place) -> None:
    store = postgresql.rounds().store
    limits = {"lock_timeout": "2500ms", "statement_timeout": "3s", "idle_in_transaction_session_timeout": "2s"}

    def shown(connection: Any) -> dict[str, str]:
        return {name: connection.scalar(sa.text(f"SHOW {name}")) for name in limits}

    for _ in range(2):  # the second time, the same session comes from the pool
        with store.read() as connection:
            assert shown(connection) == limits
            assert connection.scalar(sa.text("SHOW client_connection_check_interval")) == "500ms"
        with store.write("test") as connection:
            store.extend_limits(connection)
            assert shown(connection) == {**limits, "lock_timeout": "15s", "statement_timeout": "20s"}
        with store.read() as connection:
            store.extend_limits(connection, slow_reader=True)
            assert shown(connection)["idle_in_transaction_session_timeout"] == "4s"


def test_no_statement_stops_the_limit_for_idle_transactions(postgresql: Place) -> None:
    """Neither one row, nor many in a pipeline, nor a server-side cursor: an idle session is still ended afterwards."""
    one, other = postgresql.rounds(), postgresql.rounds()
    made = one.campaigns.create(settings())
    number = sa.select(tokens.c.digest)
    ways: list[Callable[[Any], Any]] = [
        lambda connection: connection.execute(number).all(),
        lambda connection: connection.execute(
            tokens.insert(), [{"digest": f"{i:064}", "role": "opt-in", "campaign": made, "created": 0} for i in range(3)]
        ),
        lambda connection: connection.execution_options(yield_per=2).execute(number).fetchone(),
    ]
    for way in ways:
        with one.store.engine.connect() as connection:
            pid = connection.scalar(sa.text("SELECT pg_backend_pid()"))
            way(connection)
            eventually_gone(other, pid)
            connection.invalidate()


def eventually_gone(rounds: Rounds, pid: int, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    asked = sa.text("SELECT count(*) FROM pg_stat_activity WHERE pid = :pid")
    while True:
        with rounds.store.read() as connection:
            if not connection.scalar(asked, {"pid": pid}):
                return
        assert time.monotonic() < end, "the session is still there"
        time.sleep(0.1)


def test_deleting_many_records_takes_only_short_statements(postgresql: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Together they take longer than a statement may, yet neither a list nor an abort fails or needs a longer limit."""
    first = postgresql.rounds()
    slow = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.15); RETURN OLD; END $$"
    with first.store.write("test") as connection:
        connection.exec_driver_sql(slow)
        connection.exec_driver_sql("CREATE TRIGGER slow BEFORE DELETE ON records FOR EACH ROW EXECUTE FUNCTION slow()")
    made, other = uploaded(first), uploaded(first, name="other")
    monkeypatch.setattr("blender_dp.collector.storage.record_rows._DELETED", 4)
    first.lifecycle.freeze(made.round)
    first.lists.make(made.round)
    first.lifecycle.abort(other.round, "enough")
    assert [first.lookup.round(name).state for name in (made.round, other.round)] == ["listed", "aborted"]
    with first.store.read() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM records")) == 0


def test_closing_counts_no_further_than_the_minimum(place: Place) -> None:
    rounds = place.rounds()
    made = listed(rounds, min_reports=3)
    rounds.contributions.add_reports(made.round, [report(i) for i in range(2)])
    rounds.lifecycle.close(made.round)
    assert rounds.lookup.round(made.round).problem == "too few reports: 2, and the minimum is 3"
    rounds.contributions.add_reports(made.round, [report(i) for i in range(9)])
    rounds.lifecycle.close(made.round)
    assert rounds.lookup.round(made.round).state == "closed"
