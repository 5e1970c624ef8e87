"""What a device sends and reads, whatever the collector, or whoever pretends to be it, answers."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time

import httpx
import pytest

from blender_dp.errors import BlenderError, DocumentError, ParameterError, StateError
from blender_dp_device.agent import CollectorClient
from blender_dp_device.agent.http import _DOCUMENT_BYTES, AnswerError, BusyError, SilentError
from blender_dp_device.records.head_list import HeadList


def client(answer, **more) -> CollectorClient:
    return CollectorClient("https://collector", transport=httpx.MockTransport(answer), **more)


@pytest.mark.parametrize(
    "url",
    ["http://collector", "http://10.0.0.1:8000", "http://localhost.example", "ftp://127.0.0.1", "collector", "http://[x"],
)
def test_nobody_listens_in(url):
    with pytest.raises(ParameterError, match="not https"):
        CollectorClient(url)


@pytest.mark.parametrize("url", ["https://a.example", "http://localhost:1", "http://127.0.0.9", "http://[::1]:8000"])
def test_tls_or_this_machine(url):
    CollectorClient(url).close()


def test_a_network_of_ones_own():
    CollectorClient("http://collector:8000", allow_http=True).close()


def test_no_cookie_is_kept():
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("cookie"))
        return httpx.Response(200, json={}, headers={"Set-Cookie": "device=7; Path=/; Max-Age=99999"})

    one = client(answer)
    for _ in range(2):
        one.get("/")
        one.post("/", {})
        one.post_bytes("/", b"{}")
        one.document("/")
        one.delete("/")
    assert seen == [None] * 10


@pytest.mark.parametrize("ask", ["get", "document", "delete"])
def test_no_redirect_is_followed(ask):
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(302, headers={"Location": "https://elsewhere/"})

    with pytest.raises(AnswerError, match="302"):
        getattr(client(answer), ask)("/a")
    assert asked == ["https://collector/a"]


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("packed", [False, True])
def test_every_answer_has_an_end(status, packed):
    body = b" " * 1001

    def answer(_: httpx.Request) -> httpx.Response:
        headers = {"Content-Encoding": "gzip"} if packed else {}
        return httpx.Response(status, content=gzip.compress(body) if packed else body, headers=headers)

    one = client(answer, most_bytes=1000)
    for ask in asks(one):
        with pytest.raises(StateError, match="more than 1000 bytes"):
            ask()


def asks(one: CollectorClient) -> list:
    return [
        lambda: one.get("/"),
        lambda: one.post("/", {}),
        lambda: one.post_bytes("/", b""),
        lambda: one.delete("/"),
        lambda: one.document("/"),
    ]


def test_an_answer_is_short_and_only_a_document_may_be_long(tmp_path):
    """Nobody has signed an answer, and 60 MB of brackets take a gigabyte to read."""
    body, status = b"[" + b"[]," * 100_000 + b"[]]", 200
    one = client(lambda _: httpx.Response(status, content=body))
    for ask in asks(one)[:-1]:
        with pytest.raises(StateError, match="more than 256000 bytes"):
            ask()
    assert one.document("/") == body
    status = 500  # what is no document has no right to its length
    for ask in (*asks(one), lambda: one.download("/", tmp_path / "file")):
        with pytest.raises(StateError, match="more than 256000 bytes"):
            ask()
    body, status = b" " * 8_000_001, 200
    with pytest.raises(StateError, match="more than 8000000 bytes"):
        one.document("/")
    assert client(lambda _: httpx.Response(200, content=b"[" + b" " * 9_000_000 + b"]"), most_bytes=10**7).get("/") == []


def test_the_longest_list_and_its_bundle_fit():
    """10,000 queries with four URLs of 60 letters each."""
    records = [
        (f"some query {i:05}", f"https://www.site{i}.example/{j}".ljust(60, "x")) for i in range(10_000) for j in range(4)
    ]
    made = HeadList.of(records)
    rows = [
        {"query": q, "share": 0.12345678901234567, "urls": [[u, 0.12345678901234567] for u in us]} for q, us in made.entries
    ]
    for content in (made.to_document(), {"queries": rows}):
        assert len(json.dumps(content)) < _DOCUMENT_BYTES


def test_codings_that_were_not_asked_for():
    encodings = []

    def answer(request: httpx.Request) -> httpx.Response:
        encodings.append(request.headers["accept-encoding"])
        return httpx.Response(200, stream=httpx.ByteStream(b"x"), headers={"Content-Encoding": "br"})

    one = client(answer)
    for ask in (one.get, one.document):
        with pytest.raises(StateError, match="coding"):
            ask("/")
    assert encodings == ["identity", "gzip"]


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"\xff"])
def test_answers_that_are_no_json(body):
    with pytest.raises(DocumentError, match="not JSON"):
        client(lambda _: httpx.Response(200, content=body)).get("/")
    with pytest.raises(AnswerError, match="answers 500"):
        client(lambda _: httpx.Response(500, content=body)).get("/")


@pytest.mark.parametrize(
    ("status", "problem", "said"),
    [
        (409, {"detail": "campaign: is taken. Take another name."}, "409: campaign: is taken. Take another name."),
        (409, {"detail": "the round is open"}, "409: the round is open. Look at how things are now."),
        (403, {"detail": "this token is not the operator's"}, "not the operator's. Give another token."),
        (
            422,
            {"detail": "not so", "errors": [{"where": "body.n", "what": "int", "why": "Is 3"}, {"where": "b", "what": "c"}]},
            "422: not so; body.n: Is 3; b: c. Mend the request.",
        ),
        (422, {"detail": "not so", "errors": [1]}, "422: Unprocessable Entity. Mend the request."),
        (500, {"detail": "failed."}, "500: failed. The collector's operator must look."),
    ],
)
def test_problems_are_told_whole(status, problem, said):
    with pytest.raises(AnswerError) as told:
        client(lambda _: httpx.Response(status, json=problem)).get("/")
    assert str(told.value).endswith(said)


def test_a_collector_that_is_busy():
    with pytest.raises(BusyError) as busy:
        client(lambda _: httpx.Response(429, headers={"Retry-After": "7"})).get("/")
    assert (busy.value.status, busy.value.seconds) == (429, 7)


def test_what_the_collector_says_is_told_in_short_and_as_plain_text():
    said = {"detail": "\x1b]0;owned\x07\x1b[2J\u202e\r\n" + "A" * 100_000}
    for status in (404, 429, 500):
        with pytest.raises(AnswerError) as told:
            client(lambda _, status=status: httpx.Response(status, json=said)).get("/")
        assert str(told.value).isprintable()
        assert "AAA" in str(told.value)
        assert len(told.value.problem) <= 200
        assert told.value.problem.endswith("…")
    with pytest.raises(AnswerError, match="answers 409: the round is listed"):
        client(lambda _: httpx.Response(409, json={"detail": "the round is listed"})).get("/")


def test_an_address_that_is_none():
    with pytest.raises(ParameterError, match="url"):
        CollectorClient("http://\x00", allow_http=True)
    for ask in ("get", "document", "delete"):
        with pytest.raises(ParameterError, match="url"):
            getattr(client(lambda _: httpx.Response(200)), ask)("/\x00")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("scheme", ["http", "HTTP"])
def test_no_proxy_sees_what_is_not_encrypted(monkeypatch, host, scheme):
    """What does not leave this machine is plain, and must not leave it through a proxy either."""
    with socket.create_server(("127.0.0.1", 0)) as proxy, socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
        gone.close()
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.getsockname()[1]}")
        with pytest.raises(StateError, match="does not answer"):
            CollectorClient(f"{scheme}://{host}:{port}", token="t" * 64, seconds=2).get("/")
        proxy.settimeout(0.2)
        with pytest.raises(TimeoutError):
            proxy.accept()


def threads_end(before: set[threading.Thread]) -> bool:
    """Whether the threads that were left behind come to an end."""
    until = time.monotonic() + 5
    while set(threading.enumerate()) - before:
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def test_a_connection_that_comes_too_late_is_not_used(monkeypatch):
    """Whoever was told that nobody answers may opt out, and nothing leaves after that."""
    go_on, connect, before = threading.Event(), socket.create_connection, set(threading.enumerate())

    def late(*arguments, **more):
        go_on.wait(10)
        return connect(*arguments, **more)

    monkeypatch.setattr(socket, "create_connection", late)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5)
        one = CollectorClient(f"http://127.0.0.1:{listener.getsockname()[1]}", token="t" * 64, seconds=0.2)
        with pytest.raises(SilentError, match="too slow"):
            one.post("/", {"query": "private"})
        go_on.set()
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(5)
            assert connection.recv(1000) == b""
        assert threads_end(before)
        one.close()


def test_a_connection_that_is_used_again_is_ended_too():
    """It was made for an earlier request, in time."""
    ended, before = threading.Event(), set(threading.enumerate())

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(5)
            connection.recv(10_000)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            while connection.recv(10_000):
                pass
            ended.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        one = CollectorClient(f"http://127.0.0.1:{listener.getsockname()[1]}", seconds=0.5)
        one.get("/")
        with pytest.raises(SilentError, match="too slow"):
            one.post_bytes("/", b"{}")
        thread.join()
        assert ended.is_set()
        assert threads_end(before)
        one.close()


@pytest.mark.parametrize("hung_up", [True, False])
@pytest.mark.parametrize("begin", [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"])
def test_an_answer_that_drips(begin, hung_up, monkeypatch):
    """Every byte comes in time, and there is no end of them, in the headers or in the body; the thread ends all the same."""
    if not hung_up:  # reading has an end of its own
        monkeypatch.setattr(CollectorClient, "_hang_up", lambda _: None)
    stop, before = threading.Event(), set(threading.enumerate())

    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(begin)
            while not stop.wait(0.02):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,), daemon=True)
        thread.start()
        one = CollectorClient(f"http://127.0.0.1:{listener.getsockname()[1]}", seconds=0.5)
        started = time.monotonic()
        with pytest.raises(StateError, match="too slow"):
            one.get("/")
        assert time.monotonic() - started < 5
        if hung_up or b"Content-Length" in begin:
            assert threads_end({*before, thread})
        stop.set()
        thread.join()
        assert threads_end(before)
        one.close()


def test_nothing_listens():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(BlenderError, match="does not answer"):
        CollectorClient(f"http://127.0.0.1:{port}").get("/")
