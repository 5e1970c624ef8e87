"""Connections: deadlines, closing and use by several threads, over real sockets."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from blender_dp.errors import DocumentError, StateError
from blender_dp_device.agent import connection as module
from blender_dp_device.agent.client import CollectorClient, NoResponseError
from tests.device.agent.http_server import Answer, listening
from tests.device.agent.raw_server import OK, serving


@pytest.fixture
def no_threads_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    until = time.monotonic() + 5
    while set(threading.enumerate()) - before:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_nothing_listens():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(NoResponseError, match="does not respond"):
        CollectorClient(f"http://127.0.0.1:{port}").get("/")


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"\r\n",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n{}",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n{}",
    ],
)
@pytest.mark.usefixtures("no_threads_left")
def test_a_response_that_is_cut_short_or_is_not_http(response):
    def serve(connection: socket.socket) -> None:
        connection.recv(10_000)
        connection.sendall(response)

    with serving(serve) as url, pytest.raises((NoResponseError, DocumentError)):
        CollectorClient(url, seconds=3).get("/")


@pytest.mark.parametrize("size", [b"-1", b"ffffffffffff"])
def test_a_chunk_of_any_announced_size_is_not_read_whole(size):
    """A negative size means to the end of the connection, which a server can delay indefinitely."""
    sent = []

    def serve(connection: socket.socket) -> None:
        connection.recv(10_000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + size + b"\r\n")
        for _ in range(2_000):
            connection.sendall(bytes(10_000))
            sent.append(10_000)

    with serving(serve) as url, pytest.raises(StateError):
        CollectorClient(url, seconds=5).get("/")
    assert sum(sent) < 15_000_000


def test_a_connection_is_used_again():
    seen = []

    def serve(connection: socket.socket) -> None:
        for _ in range(3):
            seen.append(connection.recv(10_000)[:5])
            connection.sendall(OK)

    with serving(serve) as url:
        one = CollectorClient(url, seconds=3)
        assert [one.get("/"), one.post("/", None), one.get("/")] == [{}, {}, {}]
        one.close()
    assert seen == [b"GET /", b"POST ", b"GET /"]


def test_a_connection_that_the_server_has_closed_is_not_used_again():
    """A request that was lost in transit could not safely be sent again."""

    def serve(connection: socket.socket) -> None:
        connection.recv(10_000)
        connection.sendall(OK)

    with serving(serve, connections=3) as url:
        one = CollectorClient(url, seconds=3)
        for _ in range(3):
            assert one.post_bytes("/", b"{}") == {}
            time.sleep(0.1)
        one.close()


def test_an_old_connection_is_not_used_again(monkeypatch):
    def serve(connection: socket.socket) -> None:
        connection.recv(10_000)
        connection.sendall(OK)
        connection.recv(10_000)

    monkeypatch.setattr(module, "_IDLE_SECONDS", 0.0)
    with serving(serve, connections=2) as url:
        one = CollectorClient(url, seconds=3)
        assert [one.get("/"), one.get("/")] == [{}, {}]
        one.close()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_process_does_not_use_a_connection_of_its_parent():
    """Otherwise each of them might read the response to the other's request."""

    def serve(connection: socket.socket) -> None:
        while connection.recv(10_000):
            connection.sendall(OK)

    with serving(serve, connections=1) as url:
        one = CollectorClient(url, seconds=1)
        assert one.get("/") == {}
        child = os.fork()
        if child == 0:
            try:
                one.get("/")  # the server handles one connection at a time, so another one gets no response
            except NoResponseError:
                os._exit(0)
            finally:
                os._exit(1)  # no further tests run in this process
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert one.get("/") == {}
        one.close()


def test_several_threads_use_one_client():
    with listening(lambda request: Answer(json=request.target)) as url:
        one, results = CollectorClient(url), []
        threads = [
            threading.Thread(target=lambda i=i: results.extend(one.get(f"/{i}-{j}") for j in range(20))) for i in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        one.close()
    assert sorted(results) == sorted(f"/{i}-{j}" for i in range(8) for j in range(20))


@pytest.mark.usefixtures("no_threads_left")
def test_a_connection_that_comes_too_late_is_not_used(monkeypatch):
    """The user may opt out after the error, and nothing leaves after that."""
    go_on, connect = threading.Event(), socket.create_connection

    def late(*arguments, **more):
        go_on.wait(10)
        return connect(*arguments, **more)

    monkeypatch.setattr(socket, "create_connection", late)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5)
        one = CollectorClient(f"http://127.0.0.1:{listener.getsockname()[1]}", token="t" * 64, seconds=0.2)
        with pytest.raises(NoResponseError, match="too slow"):
            one.post("/", {"query": "private"})
        go_on.set()
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(5)
            assert connection.recv(1000) == b""
        one.close()


@pytest.mark.slow
def test_a_connection_that_is_used_again_is_closed_after_a_timeout():
    ended = threading.Event()

    def serve(connection: socket.socket) -> None:
        connection.recv(10_000)
        connection.sendall(OK)
        while connection.recv(10_000):
            pass
        ended.set()

    with serving(serve) as url:
        one = CollectorClient(url, seconds=0.5)
        one.get("/")
        with pytest.raises(NoResponseError, match="too slow"):
            one.post_bytes("/", b"{}")
        assert ended.wait(5)
        one.close()


def test_nothing_is_sent_after_a_timeout_while_sending():
    """The server reads nothing until the client has given up: then only what was in the buffers arrives."""
    go_on, received = threading.Event(), []

    def serve(connection: socket.socket) -> None:
        go_on.wait(5)
        while piece := connection.recv(1_000_000):
            received.append(len(piece))

    body = bytes(50_000_000)
    with serving(serve) as url:
        with pytest.raises(NoResponseError, match="too slow"):
            CollectorClient(url, seconds=0.3).post_bytes("/", body)
        go_on.set()
    assert sum(received) < len(body)


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"])
@pytest.mark.slow
def test_a_response_that_trickles_ends_at_the_deadline(start):
    """Every byte arrives in time, but they never end, in the headers or in the body."""
    stop = threading.Event()

    def serve(connection: socket.socket) -> None:
        connection.sendall(start)
        while not stop.wait(0.02):
            connection.sendall(b"x")

    with serving(serve) as url:
        one, started = CollectorClient(url, seconds=0.5), time.monotonic()
        with pytest.raises(NoResponseError, match="too slow"):
            one.get("/")
        assert time.monotonic() - started < 3
        stop.set()


def test_no_cookies_threads_or_sockets_remain_after_an_interruption(monkeypatch):
    """A user's Ctrl-C while a response is read closes the connection."""
    ended = threading.Event()

    def serve(connection: socket.socket) -> None:
        connection.recv(10_000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{")
        connection.recv(10_000)
        ended.set()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.Allowance, "receive", interrupted)
    with serving(serve) as url:
        with pytest.raises(KeyboardInterrupt):
            CollectorClient(url).get("/")
        assert ended.wait(5)
