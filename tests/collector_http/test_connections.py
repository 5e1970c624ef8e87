"""Hostile connections: endless or slow headers, clients that do not read, idle connections."""

from __future__ import annotations

import hashlib
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from blender_dp.collector.storage import object_rows
from tests.collector_http.conftest import Live, listening
from tests.collector_http.hostile import Serving, serving

MOST_GROWTH = 64_000_000
HEAD = b"GET /__lbheartbeat__ HTTP/1.1\r\nHost: x\r\n"
CHUNKED = (
    f"POST /v1/rounds/{'0' * 32}/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    "Transfer-Encoding: chunked\r\n\r\n"
).encode()
HANG_SECONDS = 20.0
LARGE = 20_000_000


def connected(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=HANG_SECONDS)


def sent(one: socket.socket, part: bytes, times: int) -> int:
    """Send something repeatedly; return how often it was sent before the other side hung up."""
    for count in range(times):
        try:
            one.sendall(part)
        except OSError:
            return count
    return times


def answer(one: socket.socket) -> bytes:
    """The response until the other side hangs up, as far as it arrives."""
    found = b""
    try:
        while part := one.recv(65_536):
            found += part
    except ConnectionResetError:
        pass
    return found


def until(one: socket.socket, part: bytes, times: int) -> bytes:
    """The responses until a part of them has arrived this often."""
    found = b""
    while found.count(part) < times:
        more = one.recv(65_536)
        assert more, found
        found += more
    return found


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("connections") / "data") as one:
        assert one.at_first > 0
        yield one


class TestHeaders:
    @pytest.mark.parametrize(
        ("start", "part", "times"),
        [
            (HEAD + b"X: ", b"x" * 1_000_000, 80),
            (HEAD, b"X: " + b"x" * 997 + b"\r\n", 300_000),
            (b"GET /", b"x" * 1_000_000, 80),
            (b"", b"\r\n" * 500_000, 80),
            (CHUNKED + b"0\r\n", b"X: " + b"x" * 997 + b"\r\n", 300_000),
            (CHUNKED + b"1", b";" + b"x" * 1_000_000, 80),
        ],
        ids=["one long header", "many headers", "a long path", "empty lines", "trailers", "an extension of a chunk"],
    )
    def test_endless_headers_are_refused(self, served: Serving, start: bytes, part: bytes, times: int) -> None:
        with connected(served.url) as one:
            one.sendall(start)
            assert sent(one, part, times) < times
        assert served.memory("VmHWM") - served.at_first < MOST_GROWTH
        assert httpx.get(f"{served.url}/__lbheartbeat__", timeout=120).is_success

    @pytest.mark.parametrize(
        ("head", "status"),
        [
            (HEAD + b"X: " + b"x" * 32_000 + b"\r\n\r\n", b"200"),
            (HEAD + b"X: " + b"x" * 33_000 + b"\r\n\r\n", b"431"),
            (HEAD + b"X: 1\r\n" * 98 + b"Connection: close\r\n\r\n", b"200"),
            (HEAD + b"X: 1\r\n" * 100 + b"\r\n", b"431"),
            (CHUNKED + b"0\r\nX: 1\r\n\r\n", b"431"),  # trailers
            (b"nonsense\r\n\r\n", b"400"),
        ],
    )
    def test_limits_on_the_size_and_number_of_headers(self, served: Serving, head: bytes, status: bytes) -> None:
        with connected(served.url) as one:
            one.sendall(head)
            found = one.recv(65_536)
        assert found.startswith(b"HTTP/1.1 " + status)
        assert status == b"200" or b"application/problem+json" in found

    def test_a_long_body_after_a_head_in_one_piece(self, served: Serving) -> None:
        body = b'{"reports":["' + b"x" * 300_000 + b'"]}'
        head = f"POST /v1/rounds/{'0' * 32}/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        with connected(served.url) as one:
            one.sendall(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body + HEAD + b"\r\n")
            assert until(one, b"{}", 1).startswith(b"HTTP/1.1 422")  # and the next request on the connection gets a response

    def test_many_pipelined_requests_are_refused(self, served: Serving) -> None:
        few, many = (HEAD + b"\r\n") * 10, (HEAD + b"\r\n") * 20_000
        with connected(served.url) as one:
            one.sendall(few)
            assert until(one, b"{}", 10).count(b"200 OK") == 10
        with connected(served.url) as one:
            sent(one, few * 100, 1)
            assert answer(one).count(b"200 OK") < 1_000
        with ExitStack() as stack:
            for _ in range(20):
                one = stack.enter_context(connected(served.url))
                sent(one, many, 1)
            assert served.memory("VmHWM") - served.at_first < MOST_GROWTH


class TestTime:
    @pytest.fixture
    def quick(self, tmp_path: Path) -> Iterator[Live]:
        limits = {"max_header_seconds": 1, "max_body_seconds": 1, "max_write_seconds": 1, "max_waiting": 3}
        with listening(tmp_path / "data", **limits) as one:
            yield one

    @pytest.mark.parametrize("first", [b"", b"G", HEAD, HEAD + b"\r\n" + HEAD])
    def test_slow_headers_are_refused(self, quick: Live, first: bytes) -> None:
        """One byte at a time does not help."""
        with connected(quick.url) as one:
            one.sendall(first)
            start = time.monotonic()
            while time.monotonic() - start < HANG_SECONDS and sent(one, b"x", 1):
                time.sleep(0.1)
            assert time.monotonic() - start < HANG_SECONDS

    def test_the_timeout_is_reported(self, quick: Live) -> None:
        with connected(quick.url) as one:
            one.sendall(HEAD)
            found = answer(one)
        assert found.startswith(b"HTTP/1.1 408")
        assert b"urn:blender-dp:problem:slow" in found

    def test_an_endless_body_after_the_response(self, quick: Live) -> None:
        with connected(quick.url) as one:
            one.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
            start = time.monotonic()
            while time.monotonic() - start < HANG_SECONDS and sent(one, b"1\r\nx\r\n", 1):
                time.sleep(0.05)
            assert time.monotonic() - start < HANG_SECONDS

    def test_clients_that_do_not_read_are_disconnected(self, quick: Live) -> None:
        """They do not count as requests under way, and are disconnected after a while."""
        fetch = f"GET /v1/bundles/{large(quick)} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        with ExitStack() as stack, quick.http() as http:
            readers = []
            for _ in range(10):
                one = stack.enter_context(socket.socket())
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                one.connect(("127.0.0.1", int(quick.url.rpartition(":")[2])))
                readers.append(one)
                one.sendall(fetch * 5)  # the second waits until the first is sent
            time.sleep(0.5)
            assert http.get("/v1/ledger").status_code == 200
            end = time.monotonic() + HANG_SECONDS
            while time.monotonic() < end and any(sent(one, b"", 1) and _is_open(one) for one in readers):
                time.sleep(0.1)
            assert time.monotonic() < end
            assert http.get("/v1/ledger").status_code == 200

    def test_a_slow_but_steady_reader_gets_everything(self, quick: Live) -> None:
        with connected(quick.url) as one:
            one.sendall(f"GET /v1/bundles/{large(quick)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            found = b""
            while part := one.recv(262_144):
                found += part
                time.sleep(0.05)
        head, _, body = found.partition(b"\r\n\r\n")
        assert f"content-length: {LARGE}".encode() in head.lower()
        assert len(body) == LARGE


def large(live: Live) -> str:
    """A document that is too long for the buffers of the system."""
    body = b"x" * LARGE
    name = hashlib.sha256(body).hexdigest()
    store = live.service.rounds.store
    with store.write("test") as connection:
        object_rows.insert(connection, name, "bundle", body)
    return name


def _is_open(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        one.send(b"\r\n")
    except BlockingIOError:
        return True
    except OSError:
        return False
    return True


class TestNumber:
    def test_a_thousand_idle_connections(self, served: Serving) -> None:
        with ExitStack() as stack:
            for _ in range(900):
                stack.enter_context(connected(served.url))
            assert httpx.get(f"{served.url}/__heartbeat__", timeout=120).is_success
            assert served.memory("VmHWM") - served.at_first < MOST_GROWTH

    def test_too_many_connections_are_refused(self, tmp_path: Path) -> None:
        with listening(tmp_path / "data", max_connections=5, max_header_seconds=1) as live, ExitStack() as stack:
            idle = [stack.enter_context(connected(live.url)) for _ in range(5)]
            with connected(live.url) as one:
                assert answer(one).startswith(b"HTTP/1.1 503")
            for one in idle:  # they are disconnected, and then there is room again
                answer(one)
            with live.http() as http:
                assert http.get("/__lbheartbeat__").status_code == 200
