"""A database that hangs: every request gets a response in bounded time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from blender_dp.collector.storage import locks
from blender_dp.collector.storage import store as store_module
from blender_dp.collector.storage.timeouts import Timeouts
from tests.collector.places import Server
from tests.collector_http.conftest import listening


def test_a_lock_that_is_never_freed_ends_with_503(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "TIMEOUTS", Timeouts(lock=0.3))
    with listening(tmp_path / "data", database=server.url(server.create())) as live:
        listed = live.listed(live.campaign())
        path, body = f"/v1/rounds/{listed['id']}/reports", {"reports": live.messages(listed, 5)}
        rounds = live.service.rounds
        with live.http() as http:
            with rounds.store.write("test") as connection:  # a half-dead connection that holds its locks
                locks.hold_round(connection, listed["id"])
                began = time.monotonic()
                answers = [http.post(path, json=body) for _ in range(2)]
                assert time.monotonic() - began < 10
            assert [answer.status_code for answer in answers] == [503, 503]
            assert answers[0].json()["type"] == "urn:blender-dp:problem:storage"
            assert int(answers[0].headers["retry-after"]) > 0
            assert http.post(path, json=body).json() == {"refused": []}  # it has recovered by itself
