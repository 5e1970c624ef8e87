"""A collector's machine is cut off: every packet between it and PostgreSQL is lost, and neither side notices.

The collector itself lives on behind the cut, as a machine does whose switch has failed, and comes back later.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from blender_dp.collector.storage import locks
from blender_dp.collector.storage import store as store_module
from blender_dp.collector.storage.store import Store
from blender_dp.collector.storage.timeouts import TIMEOUTS, Timeouts
from tests.collector.children import SERVER, Bare
from tests.collector.disappearing import SHORT, freeze_at, wait_until_frozen, wake
from tests.collector.driver import live
from tests.collector.namespaces import COLLECTOR, Network, NetworkServer, NoNamespacesError, dropped, inside
from tests.collector.places import Place
from tests.collector.test_crash import bodies, check_finished
from tests.collector.test_disappearing import check_once, eventually

TAKE_OVER = 60.0


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    try:
        made = Network()
    except NoNamespacesError as error:
        pytest.skip(str(error))
    yield made
    made.remove()


@pytest.fixture(scope="module")
def server(network: Network) -> Iterator[NetworkServer]:
    made = NetworkServer(network)
    yield made
    made.remove()


@pytest.fixture
def place(server: NetworkServer, tmp_path: Path) -> Iterator[Place]:
    made = Place.new(tmp_path / "place", server, empty=True)
    yield made
    made.remove()


def over_network(place: Place) -> Bare:
    """The same place for a collector on the other machine."""
    assert isinstance(place.server, NetworkServer)
    return Bare.of(place, place.server.url_over_network(place.database))


POINTS = (
    "migration: before commit", "operator: before commit", "freeze: before commit",
    "list: before work", "list: before commit", "list: after commit",
    "reports: before commit", "release: after export", "release: before commit",
)  # fmt: skip


@pytest.mark.parametrize(
    ("point", "timeouts"),
    [
        *(pytest.param(point, SHORT, id=point) for point in POINTS),
        *(
            pytest.param(point, TIMEOUTS, id=f"{point}, shipped limits")
            for point in POINTS
            if point.startswith("list: before")
        ),
    ],
)
def test_another_collector_takes_over(
    network: Network, place: Place, point: str, timeouts: Timeouts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds locks in a transaction, or a lease in the middle of its work, when the network fails."""
    monkeypatch.setattr(store_module, "TIMEOUTS", timeouts)
    cut_off = SERVER.Process(target=inside, args=(network.collector, freeze_at, over_network(place), point, timeouts))
    cut_off.start()
    try:
        wait_until_frozen(cut_off.pid)
        with dropped(network):
            wake(cut_off.pid)  # it continues to work, but nothing it sends arrives
            began = time.monotonic()
            finished = eventually(lambda: live(place), TAKE_OVER)
            taken = time.monotonic() - began
            check_finished(finished)
            published = bodies(finished)
        cut_off.join(2 * TAKE_OVER)
        assert cut_off.exitcode is not None
    finally:
        cut_off.kill()
    assert taken < TAKE_OVER  # what was promised, with the shipped limits
    assert published.items() <= bodies(finished).items()
    check_once(finished)


def test_no_session_of_a_lost_machine_remains(network: Network, server: NetworkServer, place: Place) -> None:
    """Sessions that wait for the next statement, and one whose result is on its way while it holds a lock.

    No limit of PostgreSQL's own ends the latter: it waits for the network, not for a statement or a client.
    """
    here = place.rounds().store
    lost = SERVER.Process(target=inside, args=(network.collector, _hold_and_stop, server.url_over_network(place.database)))
    lost.start()
    try:
        wait_until_frozen(lost.pid)
        assert _sessions(here) == {("active", "ClientWrite"), ("idle", "ClientRead")}
        with dropped(network):
            began = time.monotonic()
            eventually(lambda: _hold(here), TAKE_OVER)
            while _sessions(here):
                assert time.monotonic() - began < TAKE_OVER, "the server believes in a machine that is gone"
                time.sleep(0.5)
    finally:
        lost.kill()


def _hold_and_stop(url: str) -> None:
    store = Store.open(url)
    idle, busy = store.engine.connect(), store.engine.connect()
    idle.commit()
    locks.hold(busy, "round/lost")
    driver: Any = busy.connection.driver_connection
    driver.pgconn.send_query(b"SELECT repeat('x', 1000) FROM generate_series(1, 100000)")  # it does not read the result
    time.sleep(2)
    os.kill(os.getpid(), signal.SIGSTOP)


def _hold(store: Store) -> None:
    with store.write("test") as connection:
        locks.hold(connection, "round/lost")


def _sessions(store: Store) -> set[tuple[str, str]]:
    """The states of the sessions from the other machine, and what they wait for."""
    asked = sa.text("SELECT state, wait_event FROM pg_stat_activity WHERE client_addr = cast(:address AS inet)")
    with store.read() as connection:
        return {(state, event) for state, event in connection.execute(asked, {"address": COLLECTOR})}
