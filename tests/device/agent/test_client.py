"""What a client sends and accepts, whatever the collector, or an impostor, responds."""

from __future__ import annotations

import gzip
import json
import tracemalloc

import pytest

from blender_dp.errors import DocumentError, ParameterError, StateError
from blender_dp_device.agent.client import _DOCUMENT_BYTES, BusyError, CollectorClient, NoResponseError, ResponseError
from blender_dp_device.records.head_list import HeadList
from tests.device.agent.http_server import Answer, Request
from tests.device.vectors.files import vectors


@pytest.mark.parametrize(
    "url",
    [
        "http://collector",
        "http://10.0.0.1:8000",
        "http://localhost.example",
        "http://127.0.0.1@collector",
        "ftp://127.0.0.1",
        "collector",
        "http://[x",
        "",
    ],
)
def test_a_collector_on_another_machine_needs_https(url):
    with pytest.raises(ParameterError, match="not https"):
        CollectorClient(url)


@pytest.mark.parametrize("case", vectors("invitations")["addresses"], ids=lambda one: one["collector"])
def test_https_or_this_machine_is_accepted(case):
    """As spec/vectors says, and no other address of this machine."""
    if case["accepted"]:
        CollectorClient(case["collector"]).close()
    else:
        with pytest.raises(ParameterError, match="url: "):
            CollectorClient(case["collector"])


def test_plain_http_on_a_private_network_must_be_allowed():
    CollectorClient("http://collector:8000", allow_http=True).close()


@pytest.mark.parametrize(
    "url",
    [
        "http://\x00",
        "http://a b",
        "http://a..b",
        "http://",
        "http://a:99999",
        "http://joe:secret@a",
        "http://a/?b",
        "http://a/#b",
        "http://a/ä",
        "a",
    ],
)
def test_an_invalid_url_is_refused(url):
    with pytest.raises(ParameterError, match="url: is not valid"):
        CollectorClient(url, allow_http=True)


@pytest.mark.parametrize("path", ["/\x00", "/\r\nX: y", "/ä", "/a b", ""])
def test_an_invalid_path_is_refused(client, path):
    one = client(lambda _: pytest.fail("was sent"))
    for request in (one.get, one.document, one.delete, lambda path: one.post(path, {})):
        with pytest.raises(ParameterError, match="url"):
            request(path)


def test_an_invalid_token_is_refused(client):
    one = client(lambda _: pytest.fail("was sent"))
    for token in ("a\r\nX: y", "ä", "\x00"):
        with pytest.raises(ParameterError, match="token"):
            one.post_bytes("/", b"{}", Authorization=f"Bearer {token}")


def test_the_path_of_the_url_comes_before_every_path(client):
    seen = []
    one = client(lambda request: seen.append(request.target) or Answer(json={}))
    below = CollectorClient(f"http://{one._origin.authority}/collector/")
    below.get("/v1/rounds", limit=3, campaign="a&b ä")
    below.close()
    assert seen == ["/collector/v1/rounds?limit=3&campaign=a%26b+%C3%A4"]


def test_what_is_sent_and_nothing_else(client):
    seen = []
    one = client(lambda request: seen.append(request) or Answer(json={}), token="t" * 64)
    one.get("/a")
    one.document("/b")
    one.post("/c", {"query": "ä", "n": 1})
    one.post("/d", None)
    one.delete("/e")
    host = {"host": one._origin.authority, "authorization": "Bearer " + "t" * 64}
    plain = {**host, "accept-encoding": "identity"}
    body = '{"query":"ä","n":1}'.encode()
    assert seen == [
        Request("GET", "/a", plain, b""),
        Request("GET", "/b", {**host, "accept-encoding": "gzip"}, b""),
        Request("POST", "/c", {**plain, "content-type": "application/json", "content-length": str(len(body))}, body),
        Request("POST", "/d", {**plain, "content-length": "0"}, b""),
        Request("DELETE", "/e", plain, b""),
    ]


def test_no_cookie_is_sent_back(client):
    seen = []

    def answer(request: Request) -> Answer:
        seen.append(request.headers.get("cookie"))
        return Answer(json={}, headers={"Set-Cookie": "device=7; Path=/; Max-Age=99999"})

    one = client(answer)
    for _ in range(2):
        for request in requests(one):
            request()
    assert seen == [None] * 10


@pytest.mark.parametrize("request_name", ["get", "document", "delete"])
def test_no_redirect_is_followed(client, request_name):
    seen = []

    def answer(request: Request) -> Answer:
        seen.append(request.target)
        return Answer(302, headers={"Location": "/elsewhere"})

    with pytest.raises(ResponseError, match="302"):
        getattr(client(answer), request_name)("/a")
    assert seen == ["/a"]


def requests(one: CollectorClient) -> list:
    return [
        lambda: one.get("/"),
        lambda: one.post("/", {}),
        lambda: one.post_bytes("/", b""),
        lambda: one.delete("/"),
        lambda: one.document("/"),
    ]


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("compressed", [False, True])
def test_every_response_has_a_maximum_length(client, status, compressed):
    body = b" " * 1001
    headers = {"Content-Encoding": "gzip"} if compressed else {}
    content = gzip.compress(body) if compressed else body
    one = client(lambda _: Answer(status, content=content, headers=headers), max_bytes=1000)
    for request in requests(one):
        with pytest.raises(StateError, match="more than 1000 bytes"):
            request()


@pytest.mark.slow
def test_a_compressed_response_is_not_decompressed_beyond_its_maximum(client):
    """Its 100 MB would be 100 KB on the wire."""
    bomb = gzip.compress(bytes(100_000_000), 9)
    one = client(lambda _: Answer(content=bomb, headers={"Content-Encoding": "gzip"}))
    tracemalloc.start()
    with pytest.raises(StateError, match="more than 8000000 bytes"):
        one.document("/")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000


def test_a_compressed_document_is_decompressed(client):
    body = json.dumps(list(range(100_000))).encode()
    content = gzip.compress(body)
    one = client(lambda _: Answer(content=content, headers={"Content-Encoding": "GZIP"}))
    assert one.document("/") == body


@pytest.mark.parametrize("damage", [lambda c: c[:-9], lambda c: c[:40] + b"xxxx" + c[44:], lambda _: b"", lambda _: b"no"])
def test_a_damaged_compressed_response_is_refused(client, damage):
    content = damage(gzip.compress(json.dumps(list(range(9_999))).encode()))
    with pytest.raises(NoResponseError):
        client(lambda _: Answer(content=content, headers={"Content-Encoding": "gzip"})).document("/")


def test_only_a_document_may_be_long(client, tmp_path):
    """A response is not signed, and 60 MB of brackets take a gigabyte to read."""
    body, status = b"[" + b"[]," * 100_000 + b"[]]", 200
    one = client(lambda _: Answer(status, content=body))
    for request in requests(one)[:-1]:
        with pytest.raises(StateError, match="more than 256000 bytes"):
            request()
    assert one.document("/") == body
    status = 500  # a problem must be short wherever a document would be allowed
    for request in (*requests(one), lambda: one.download("/", tmp_path / "file")):
        with pytest.raises(StateError, match="more than 256000 bytes"):
            request()
    assert not (tmp_path / "file").exists()
    body, status = b" " * 8_000_001, 200
    with pytest.raises(StateError, match="more than 8000000 bytes"):
        one.document("/")
    assert client(lambda _: Answer(content=b"[" + b" " * 9_000_000 + b"]"), max_bytes=10**7).get("/") == []


def test_a_download_of_any_length(client, tmp_path):
    body = bytes(range(256)) * 100_000
    client(lambda _: Answer(content=body)).download("/", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == body


def test_a_download_to_a_folder_that_does_not_exist_is_not_the_collectors_fault(client, tmp_path):
    with pytest.raises(FileNotFoundError):
        client(lambda _: Answer(content=b"x")).download("/", tmp_path / "no" / "file")


@pytest.mark.slow
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


def test_content_codings_that_were_not_requested(client):
    seen = []

    def answer(request: Request) -> Answer:
        seen.append(request.headers["accept-encoding"])
        return Answer(content=b"x", headers={"Content-Encoding": "br"})

    one = client(answer)
    for request in (one.get, one.document):
        with pytest.raises(StateError, match="content coding"):
            request("/")
    assert seen == ["identity", "gzip"]


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"\xff"])
def test_responses_that_are_not_json(client, body):
    with pytest.raises(DocumentError, match="not JSON"):
        client(lambda _: Answer(content=body)).get("/")
    with pytest.raises(ResponseError, match="responds with 500"):
        client(lambda _: Answer(500, content=body)).get("/")


@pytest.mark.parametrize(
    ("status", "problem", "text"),
    [
        (409, {"detail": "campaign: is taken. Use another name."}, "409: campaign: is taken. Use another name."),
        (409, {"detail": "the round is open"}, "409: the round is open. Check the current state."),
        (403, {"detail": "this token is not the operator's"}, "not the operator's. Use another token."),
        (
            422,
            {"detail": "not so", "errors": [{"where": "body.n", "what": "int", "why": "Is 3"}, {"where": "b", "what": "c"}]},
            "422: not so; body.n: Is 3; b: c. Fix the request.",
        ),
        (422, {"detail": "not so", "errors": [1]}, "Fix the request."),
        (422, [], "Fix the request."),
        (500, {"detail": "failed."}, "500: failed. The collector's operator must look into it."),
    ],
)
def test_problems_are_shown_with_their_fix(client, status, problem, text):
    with pytest.raises(ResponseError) as shown:
        client(lambda _: Answer(status, json=problem)).get("/")
    assert str(shown.value).endswith(text)


@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("", 1), ("soon", 1), ("-3", 1), ("9" * 9, 1), ("²", 1)])
def test_a_busy_collector_says_when_to_try_again(client, header, seconds):
    with pytest.raises(BusyError) as busy:
        client(lambda _: Answer(429, headers={"Retry-After": header})).get("/")
    assert (busy.value.status, busy.value.seconds) == (429, seconds)


def test_problems_are_shown_in_short_and_as_plain_text(client):
    said = {"detail": "\x1b]0;owned\x07\x1b[2J\u202e\r\n" + "A" * 100_000}
    for status in (404, 429, 500):
        with pytest.raises(ResponseError) as shown:
            client(lambda _, status=status: Answer(status, json=said)).get("/")
        assert str(shown.value).isprintable()
        assert "AAA" in str(shown.value)
        assert len(shown.value.problem) <= 400
        assert shown.value.problem.endswith("…")
    with pytest.raises(ResponseError, match="responds with 409: the round is listed"):
        client(lambda _: Answer(409, json={"detail": "the round is listed"})).get("/")
