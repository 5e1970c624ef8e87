"""A database that hangs: it keeps the connection open, acknowledges every packet, and never responds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa

from blender_dp.collector.storage.store import Store
from tests.collector.disappearing import SHORT
from tests.collector.places import Server
from tests.collector.proxy import SilentProxy

HANG_SECONDS = 60
ONE = sa.text("SELECT 1")


@pytest.fixture
def hanging(server: Server) -> Iterator[tuple[Store, SilentProxy]]:
    proxy = SilentProxy(server.url(server.create()))
    store = Store.open(proxy.url, replace(SHORT, connect=1, ping=0.5, statement=1, margin=0.5))
    with store.read() as connection:  # from now on, the pool has a connection
        connection.scalar(ONE)
    yield store, proxy
    proxy.speak()
    store.close()
    proxy.close()


@pytest.mark.parametrize("when", ["between requests", "in a transaction"])
def test_no_statement_waits_forever(hanging: tuple[Store, SilentProxy], when: str) -> None:
    """Neither keepalives nor the server's own limits help here: the collector itself gives up."""
    store, proxy = hanging
    seen: list[BaseException] = []

    def ask() -> None:
        try:
            if when == "between requests":
                proxy.fall_silent()
            with store.read() as connection:
                connection.scalar(ONE)
                proxy.fall_silent()
                connection.scalar(ONE)
        except sa.exc.OperationalError as error:
            seen.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(HANG_SECONDS)
    assert [type(one) for one in seen] == [sa.exc.OperationalError]
