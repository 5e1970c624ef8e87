"""What a device sends and reads, whatever the collector, or whoever pretends to be it, answers."""

from __future__ import annotations

import gzip
import socket
import threading
import time

import httpx
import pytest

from blender_dp.devices import CollectorClient
from blender_dp.devices.collector import AnswerError, BusyError
from blender_dp.errors import BlenderError, DocumentError, ParameterError, StateError


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
def test_every_answer_has_an_end(monkeypatch, status, packed):
    monkeypatch.setattr("blender_dp.devices.collector._MOST_BYTES", 1000)
    body = b" " * 1001

    def answer(_: httpx.Request) -> httpx.Response:
        headers = {"Content-Encoding": "gzip"} if packed else {}
        return httpx.Response(status, content=gzip.compress(body) if packed else body, headers=headers)

    one = client(answer)
    for ask in (
        lambda: one.get("/"),
        lambda: one.post("/", {}),
        lambda: one.post_bytes("/", b""),
        lambda: one.document("/"),
    ):
        with pytest.raises(StateError, match="more than 1000 bytes"):
            ask()


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


@pytest.mark.parametrize("begin", [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"])
def test_an_answer_that_drips(begin):
    """Every byte comes in time, and there is no end of them, in the headers or in the body."""
    stop = threading.Event()

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
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        one = CollectorClient(f"http://127.0.0.1:{listener.getsockname()[1]}", seconds=0.5)
        started = time.monotonic()
        with pytest.raises(StateError, match="too slow"):
            one.get("/")
        assert time.monotonic() - started < 5
        stop.set()
        thread.join()
        one.close()


def test_nothing_listens():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(BlenderError, match="does not answer"):
        CollectorClient(f"http://127.0.0.1:{port}").get("/")
