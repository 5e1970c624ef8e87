"""A database that hangs, and a collector that disappears: every request gets a response in time, and work continues."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy.exc import SQLAlchemyError

from blender_dp.collector.http import operations_routes as operations
from blender_dp.collector.http import response_cache as recent
from blender_dp.collector.http.health_check import HealthCheck
from blender_dp.collector.storage import locks
from blender_dp.collector.storage import store as store_module
from tests.collector.disappearing import SHORT
from tests.collector.places import Server
from tests.collector.proxy import SilentProxy
from tests.collector_http.conftest import Live, listening

LIMIT = 120  # a hang limit: with the short timeouts, requests take a few seconds


@pytest.fixture
def hanging(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Live, SilentProxy, dict[str, Any]]]:
    """A collector with a list, and the proxy between it and its database."""
    monkeypatch.setattr(store_module, "TIMEOUTS", SHORT)
    monkeypatch.setattr(operations, "HealthCheck", lambda check: HealthCheck(check, 1.0))
    proxy = SilentProxy(server.url(server.create()))
    with listening(tmp_path / "data", database=proxy.url) as live:
        listed = live.listed(live.campaign())
        yield live, proxy, listed
        proxy.speak()
    proxy.close()


def test_every_request_gets_a_response(hanging: tuple[Live, SilentProxy, dict[str, Any]]) -> None:
    live, proxy, listed = hanging
    name = listed["id"]
    token = live.enrolled(listed["campaign"])[0]
    messages = live.messages(listed, 5)
    operator = {"Authorization": f"Bearer {live.token}"}
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/__heartbeat__", {}),
        ("GET", "/v1/rounds/current", {}),
        ("GET", "/v1/ledger", {}),
        ("POST", f"/v1/rounds/{name}/reports", {"json": {"reports": messages}}),
        ("POST", f"/v1/rounds/{name}/records", {"json": {"query": "a"}, "headers": {"Authorization": f"Bearer {token}"}}),
        ("GET", f"/v1/operator/rounds/{name}", {"headers": operator}),
        ("POST", f"/v1/operator/rounds/{name}/close", {"headers": operator}),
        ("POST", f"/v1/operator/rounds/{name}/abort", {"headers": operator, "json": {"reason": "enough"}}),
    ]

    def ask(request: tuple[str, str, dict[str, Any]]) -> httpx.Response:
        method, path, parts = request
        return httpx.request(method, live.url + path, timeout=LIMIT, **parts)

    proxy.fall_silent()
    time.sleep(2 * recent.SECONDS)  # some responses are cached for a moment
    with ThreadPoolExecutor(100) as pool:  # more than the collector has threads and connections
        answers = list(pool.map(ask, requests * 12))
    assert {(answer.url.path, answer.status_code) for answer in answers} == {(path, 503) for _, path, _ in requests}
    assert all(int(answer.headers["retry-after"]) > 0 for answer in answers)
    assert httpx.get(f"{live.url}/__lbheartbeat__", timeout=LIMIT).status_code == 200  # the process is alive

    proxy.speak()
    end = time.monotonic() + LIMIT
    while not httpx.get(f"{live.url}/__heartbeat__", timeout=LIMIT).is_success:
        assert time.monotonic() < end, "it does not recover"
        time.sleep(0.1)
    assert ask(requests[3]).json() == {"refused": []}
    assert ask(requests[2]).is_success


def test_requests_fail_at_once_after_the_first_timeout(hanging: tuple[Live, SilentProxy, dict[str, Any]]) -> None:
    """Otherwise hundreds of requests would wait for one timeout after another.

    Not for a route of readers: their requests share one response, so they all wait for the same timeout.
    """
    live, proxy, _ = hanging
    proxy.fall_silent()
    path = "/v1/operator/campaigns"
    with ThreadPoolExecutor(50) as pool, live.http(live.token) as http:
        assert http.get(path, timeout=LIMIT).status_code == 503
        answers = list(pool.map(lambda _: http.get(path, timeout=LIMIT), range(500)))
    assert {answer.status_code for answer in answers} == {503}
    assert sum(answer.elapsed.total_seconds() > SHORT.connect for answer in answers) < 50  # not one timeout after another


def test_abort_works_when_another_collector_has_disappeared(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds the round in a transaction, and a claim on its list, and its connections stay open."""
    monkeypatch.setattr(store_module, "TIMEOUTS", SHORT)
    database = server.url(server.create())
    proxy = SilentProxy(database)
    with listening(tmp_path / "data", database=database) as live:
        round_id = live.opened(live.campaign())
        gone = store_module.Store.open(proxy.url)
        connection = gone.engine.connect()
        locks.hold_round(connection, round_id)
        claim = gone.claim(round_id)
        assert claim.__enter__() is not None
        proxy.fall_silent()
        end = time.monotonic() + LIMIT
        path, body = f"/v1/operator/rounds/{round_id}/abort", {"reason": "enough"}
        with live.http(live.token) as http:
            while not (answer := http.post(path, json=body, timeout=LIMIT)).is_success:
                assert answer.status_code == 503
                assert time.monotonic() < end, "the round stays locked"
            assert answer.json()["state"] == "aborted"
            assert http.get("/__heartbeat__").is_success
            assert live.opened(answer.json()["campaign"])  # and the campaign continues
    proxy.speak()  # it wakes up
    claim.__exit__(None, None, None)
    with suppress(SQLAlchemyError):
        connection.close()
    gone.close()
    proxy.close()
