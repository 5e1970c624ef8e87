"""Limits on bodies, requests and disk space."""

from __future__ import annotations

import errno
import shutil
import socket
import time
from contextlib import ExitStack

import anyio
import httpx
import pytest
import sqlalchemy.exc

from tests.collector_http.checks import REPORT, is_problem
from tests.collector_http.conftest import listening


def connected(live, length: int) -> socket.socket:
    """A connection on which a body of this length is announced."""
    host, port = live.url.removeprefix("http://").split(":")
    one = socket.create_connection((host, int(port)), timeout=10)
    lines = f"POST /v1/rounds/{'0' * 32}/reports HTTP/1.1", "Host: x", "Content-Type: application/json"
    one.sendall("\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode())
    return one


def all_of(one: socket.socket) -> bytes:
    """The response, until the other side hangs up."""
    answer = b""
    while part := one.recv(65_536):
        answer += part
    return answer


class TestLimits:
    @pytest.fixture
    def small(self, tmp_path):
        with listening(tmp_path / "data", max_body_bytes=2_000, max_reports=3, max_body_seconds=3) as one:
            yield one

    def test_a_body_that_announces_too_many_bytes(self, small):
        with small.http() as http:
            answer = http.post(f"/v1/rounds/{'0' * 32}/reports", content=b" " * 2_001)
        assert is_problem(answer, 413, "too-large")

    def test_a_body_that_announces_too_many_bytes_is_refused_at_once(self, small):
        with connected(small, 2_001) as one:
            assert all_of(one).startswith(b"HTTP/1.1 413 ")

    def test_a_long_body_of_unannounced_length(self, small):
        def chunks():
            for _ in range(30):
                yield b" " * 100

        with small.http() as http:
            headers = {"Content-Type": "application/json"}
            answer = http.post(f"/v1/rounds/{'0' * 32}/reports", content=chunks(), headers=headers)
        assert is_problem(answer, 413, "too-large")

    def test_an_invalid_content_length(self, small):
        transport = httpx.ASGITransport(small.app)

        async def post():
            async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
                return await http.post("/v1/rounds/x/reports", content=b"1", headers={"Content-Length": "9" * 5_000})

        assert is_problem(anyio.run(post), 413, "too-large")

    def test_too_many_reports(self, small):
        with small.http() as http:
            answer = http.post(f"/v1/rounds/{'0' * 32}/reports", json={"reports": [REPORT] * 4})
        assert is_problem(answer, 413, "too-many")

    def test_a_body_that_never_ends(self, small):
        with connected(small, 100) as one:
            one.sendall(b"{")
            answer = all_of(one)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"urn:blender-dp:problem:slow" in answer

    def test_too_many_bytes_under_way(self, tmp_path):
        with listening(tmp_path / "data", max_body_bytes=9_000, max_waiting_bytes=10_000, max_body_seconds=5) as one:
            with connected(one, 8_000) as slow, one.http() as http:
                slow.sendall(b" " * 7_000)
                while one.service.bytes_under_way < 7_000:
                    time.sleep(0.01)
                path, headers = f"/v1/rounds/{'0' * 32}/reports", {"Content-Type": "application/json"}
                refused = http.post(path, content=b" " * 4_000, headers=headers)
                small = http.post(path, content=b"{}", headers=headers)
            assert is_problem(refused, 429, "busy")
            assert refused.headers["retry-after"] == "5"
            assert small.status_code == 422
            until = time.monotonic() + 30
            while one.service.bytes_under_way and time.monotonic() < until:
                time.sleep(0.01)
            assert (one.service.bytes_under_way, one.service.under_way) == (0, 0)

    def test_slow_bodies_do_not_block_other_requests(self, tmp_path):
        """Requests are under way once their body is complete: otherwise a few slow clients could occupy all places."""
        with listening(tmp_path / "data", max_waiting=2) as one, ExitStack() as stack:
            slow = [stack.enter_context(connected(one, 15)) for _ in range(8)]
            for client in slow:
                client.sendall(b"{")
            with one.http() as http:
                assert http.get("/v1/rounds/current").status_code == 200
            slow[0].sendall(b'"reports": []}')
            assert slow[0].recv(1000).startswith(b"HTTP/1.1 422 ")

    def test_a_client_that_hangs_up_is_not_a_failure(self, live):
        """Operators should look at every 500, and any client can hang up."""
        with connected(live, 100) as one:
            one.sendall(b"{")
        until = time.monotonic() + 30
        with live.http(live.token) as http:
            while 'blender_dp_answers_total{status="499"} 1.0' not in (metrics := http.get("/metrics").text):
                assert time.monotonic() < until
                time.sleep(0.05)
        assert 'status="500"' not in metrics

    def test_what_the_parser_refuses_is_counted(self, live):
        with socket.create_connection(("127.0.0.1", int(live.url.rpartition(":")[2]))) as one:
            one.sendall(b"no HTTP\r\n\r\n")
            assert all_of(one).startswith(b"HTTP/1.1 400 ")
        with live.http(live.token) as http:
            assert 'blender_dp_answers_total{status="400"} 1.0' in http.get("/metrics").text

    def test_a_body_that_trickles_in(self, small):
        """The limit is for the whole body: otherwise anyone could hold a place for ever with a byte now and then."""
        with connected(small, 100) as one:
            one.settimeout(0.1)
            answer = b""
            for _ in range(30):
                one.sendall(b" ")
                try:
                    answer = one.recv(65_536)
                    break
                except TimeoutError:
                    continue
        assert answer.startswith(b"HTTP/1.1 408 ")

    def test_a_finished_request_is_not_under_way(self, live, monkeypatch):
        def fail():
            raise RuntimeError

        monkeypatch.setattr(live.service.rounds.budgets, "ledger", fail)
        with live.http() as http:
            for path, status in (("/v1/rounds/current", 200), ("/v1/nothing", 404), ("/v1/ledger", 500)):
                assert http.get(path).status_code == status
        until = time.monotonic() + 5
        while live.service.under_way and time.monotonic() < until:
            time.sleep(0.01)
        assert live.service.under_way == 0

    def test_too_many_concurrent_requests(self, live):
        live.service.under_way = live.service.settings.max_waiting
        try:
            with live.http() as http:
                answer = http.get("/v1/ledger")
                assert is_problem(answer, 429, "busy")
                assert int(answer.headers["retry-after"]) > 0
                assert http.get("/__lbheartbeat__").status_code == 200  # busy is not dead
        finally:
            live.service.under_way = 0

    def test_a_disk_that_is_nearly_full(self, live, monkeypatch):
        listed = live.listed(live.campaign())
        monkeypatch.setattr(live.service, "free_bytes", lambda: -1)
        (token,) = live.enrolled(listed["campaign"])
        with live.http(token) as http:
            path = f"/v1/rounds/{listed['id']}"
            assert is_problem(http.post(f"{path}/reports", json={"reports": live.messages(listed, 1)}), 507, "full")
            assert is_problem(http.post(f"{path}/records", json={"query": "q"}), 507, "full")
            assert is_problem(http.get("/__heartbeat__"), 507, "full")
        assert shutil.disk_usage(live.data).free > 0

    def test_storage_that_does_not_respond(self, live, monkeypatch, caplog):
        listed = live.listed(live.campaign())
        messages = live.messages(listed, 1)
        for error in (
            sqlalchemy.exc.OperationalError("INSERT canary", {}, OSError("canary")),
            sqlalchemy.exc.TimeoutError("canary"),
            OSError(5, "canary"),
        ):

            def fail(*_, error=error):
                raise error

            monkeypatch.setattr(live.service.rounds.contributions, "add_reports", fail)
            with live.http() as http:
                answer = http.post(f"/v1/rounds/{listed['id']}/reports", json={"reports": messages})
            assert is_problem(answer, 503, "storage")
            assert int(answer.headers["retry-after"]) > 0
            assert "canary" not in answer.text + caplog.text

    @pytest.mark.parametrize(
        "error",
        [
            OSError(errno.ENOSPC, "canary"),
            OSError(errno.EDQUOT, "canary"),
            sqlalchemy.exc.OperationalError("", {}, OSError("Disk full")),
        ],
    )
    def test_a_disk_that_fills_up_during_the_request(self, live, monkeypatch, error):
        listed = live.listed(live.campaign())

        def fail(*_):
            raise error

        monkeypatch.setattr(live.service.rounds.contributions, "add_reports", fail)
        with live.http() as http:
            answer = http.post(f"/v1/rounds/{listed['id']}/reports", json={"reports": live.messages(listed, 1)})
        assert is_problem(answer, 507, "full")
