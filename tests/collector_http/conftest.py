"""Collectors that really listen, with rounds in them."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from httpx._transports import default

from blender_dp.collector.http.app import create_app
from blender_dp.collector.http.service import Service
from blender_dp.collector.server.bounded_protocol import BoundedProtocol
from blender_dp.collector.server.preparation import prepare
from blender_dp.collector.settings.settings import Settings
from blender_dp_device.channel import Device
from blender_dp_device.records.reporting_list import ReportingList
from tests.collector.places import Server

CAMPAIGN = {
    "name": "searches", "epsilon": "4", "delta": "1e-6", "max_queries": 5,
    "expected_clients": 1000, "min_opt_in": 100, "min_reports": 100, "max_epsilon": "unlimited",
}  # fmt: skip
HANG = 120
"""Seconds after which a test gives up waiting: far more than anything takes on a busy machine."""
RECORDS = [(f"query {i}", f"https://site{i}.example/") for i in range(5)]


@dataclass
class Distant:
    """A listening collector."""

    url: str
    token: str

    def http(self, token: str | None = None, **more: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=HANG, **more)

    def campaign(self, **changed: Any) -> str:
        return self.operator("POST", "/v1/operator/campaigns", json={**CAMPAIGN, **changed})["id"]

    def opened(self, campaign: str, **times: int) -> str:
        return self.operator("POST", f"/v1/operator/campaigns/{campaign}/rounds", json=times)["id"]

    def enrolled(self, campaign: str, count: int = 1) -> list[str]:
        return self.operator("POST", f"/v1/operator/campaigns/{campaign}/enrolments", json={"count": count})["tokens"]

    def operator(self, method: str, path: str, **parts: Any) -> Any:
        with self.http(self.token) as http:
            answer = http.request(method, path, **parts)
        assert answer.is_success, answer.text
        return answer.json()

    def listed(self, campaign: str, users: int = 200, **times: int) -> dict[str, Any]:
        """A round with a list."""
        round_id = self.opened(campaign, **times)
        for i, token in enumerate(self.enrolled(campaign, users)):
            self.upload(round_id, token, *RECORDS[i % len(RECORDS)])
        self.operator("POST", f"/v1/operator/rounds/{round_id}/list")
        return self.reached(round_id, "listed")

    def upload(self, round_id: str, token: str, query: str, url: str) -> None:
        with self.http(token) as http:
            assert http.post(f"/v1/rounds/{round_id}/records", json={"query": query, "url": url}).status_code == 201

    def released(self, campaign: str, reports: int = 300, **times: int) -> dict[str, Any]:
        listed = self.listed(campaign, **times)
        with self.http() as http:
            path = f"/v1/rounds/{listed['id']}/reports"
            assert http.post(path, json={"reports": self.messages(listed, reports)}).json() == {"refused": []}
        self.operator("POST", f"/v1/operator/rounds/{listed['id']}/close")
        return self.reached(listed["id"], "released")

    def reached(self, round_id: str, state: str) -> dict[str, Any]:
        end = time.monotonic() + HANG
        while (found := self.operator("GET", f"/v1/operator/rounds/{round_id}"))["state"] != state:
            if time.monotonic() > end:
                raise TimeoutError(found)
            time.sleep(0.05)
        return found

    def device(self, listed: dict[str, Any]) -> Device:
        with self.http() as http:
            content = http.get(f"/v1/head-lists/{listed['head_list']}").json()["content"]
        return Device(ReportingList.from_document(content["head_list"]), epsilon="4")

    def messages(self, listed: dict[str, Any], count: int, start: int = 0) -> list[dict[str, Any]]:
        device = self.device(listed)
        made = []
        for i in range(start, start + count):
            report = device.report(*RECORDS[i % len(RECORDS)])
            made.append({"id": f"{i:032x}", "head_list": listed["head_list"], "cells": list(report.cells)})
        return made


@dataclass
class Live(Distant):
    """A collector that listens in this process."""

    app: FastAPI
    data: Path

    @property
    def service(self) -> Service:
        return self.app.state.service

    def upload(self, round_id: str, token: str, query: str, url: str) -> None:
        """Directly to the database: this takes a quarter of a second for all users, instead of several."""
        self.service.rounds.contributions.upload_record(round_id, token, query, url)


@contextmanager
def listening(data: Path, **settings: Any) -> Iterator[Live]:
    """A collector with its own folder on a free port."""
    chosen, shown = Settings(data=data, **{"min_free_bytes": 0, **settings}), [""]
    prepare(chosen, shown.append)
    app = create_app(chosen)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = uvicorn.Server(
            uvicorn.Config(
                app, http=BoundedProtocol, log_level="warning", access_log=False, ws="none", timeout_graceful_shutdown=2
            )
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [free]})
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield Live(f"http://127.0.0.1:{free.getsockname()[1]}", shown[-1], app, data)
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="session", autouse=True)
def certificates_loaded_once() -> Iterator[None]:
    """Every client of httpx loads all certificates, which takes 25 ms, also for connections without TLS like ours."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default, "create_ssl_context", lru_cache(default.create_ssl_context))
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    made = Server(synced=False)
    yield made
    made.remove()


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def chosen_server(request: pytest.FixtureRequest) -> Server | None:
    """Tests that use a collector run on both databases."""
    return request.getfixturevalue("server") if request.param == "postgresql" else None


@pytest.fixture(scope="session")
def database(chosen_server: Server | None) -> Callable[[], str]:
    """A new place for a collector's data; PostgreSQL has all tables."""
    return lambda: chosen_server.url(chosen_server.create(like=chosen_server.migrated)) if chosen_server else ""


@pytest.fixture(scope="session")
def empty_database(chosen_server: Server | None) -> Callable[[], str]:
    """The same without tables, as before the first start."""
    return lambda: chosen_server.url(chosen_server.create()) if chosen_server else ""


@pytest.fixture
def live(tmp_path: Path, database: Callable[[], str]) -> Iterator[Live]:
    """A new collector."""
    with listening(tmp_path / "data", database=database()) as one:
        yield one


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory, database: Callable[[], str]) -> Iterator[tuple[Live, dict[str, Any]]]:
    """A collector with a release, for tests that only read."""
    with listening(tmp_path_factory.mktemp("ready") / "data", database=database()) as one:
        yield one, one.released(one.campaign())
