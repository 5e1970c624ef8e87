"""Published documents: immutable, compressed, and found by their digests."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import threading
import time
from types import SimpleNamespace

import pytest

from blender_dp.collector.http import document_cache
from blender_dp.collector.http.document_cache import DocumentCache
from tests.collector_http.checks import is_problem


@pytest.mark.parametrize(
    ("path", "kind"),
    [("openings", "opening"), ("head-lists", "head_list"), ("bundles", "bundle"), ("releases", "release")],
)
def test_documents_are_immutable_and_compressed(ready, path, kind):
    live, done = ready
    where, name = f"/v1/{path}/{done[kind]}", done[kind]
    with live.http() as http:
        plain = http.get(where, headers={"Accept-Encoding": "identity"})
        packed = http.get(where, headers={"Accept-Encoding": "br;q=0, gzip;q=0.5"})
        smaller = http.get(where, headers={"Accept-Encoding": "gzip, br"})
        assert hashlib.sha256(plain.content).hexdigest() == hashlib.sha256(packed.content).hexdigest() == name
        assert "content-encoding" not in plain.headers
        assert (smaller.content, smaller.headers["content-encoding"]) == (plain.content, "br")
        assert packed.headers["content-encoding"] == "gzip"
        answers = plain, packed, smaller
        assert sorted(answers, key=lambda answer: -int(answer.headers["content-length"])) == [*answers]
        tags = [answer.headers["etag"] for answer in answers]
        assert tags == [f'"{name}"', f'"{name}-gzip"', f'"{name}-br"']
        for answer in answers:
            assert "immutable" in answer.headers["cache-control"]
            assert answer.headers["vary"] == "Accept-Encoding"
        known = http.get(where, headers={"Accept-Encoding": "gzip", "If-None-Match": f'"x", {tags[1]}'})
        assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", tags[1])
        assert http.get(where, headers={"Accept-Encoding": "gzip", "If-None-Match": tags[0]}).status_code == 200
        for never in ("gzip;q=0", "gzip; q=0.000", "identity", "*, gzip;q=0", "br;q=0"):
            assert "content-encoding" not in http.get(where, headers={"Accept-Encoding": never}).headers
        for also in ("*", "*;q=0, gzip", "GZIP"):
            assert http.get(where, headers={"Accept-Encoding": also}).headers["content-encoding"] == "gzip"
        head = http.head(where, headers={"Accept-Encoding": "identity"})
        assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", tags[0])
        unknown = http.get(f"/v1/{path}/{'0' * 64}", headers={"If-None-Match": f'"{"0" * 64}"'})
        assert is_problem(unknown, 404, "missing")
    with live.http() as http, http.stream("GET", where, headers={"Accept-Encoding": "gzip"}) as raw:
        assert gzip.decompress(b"".join(raw.iter_raw())) == plain.content


def test_a_document_of_another_kind_is_not_found(ready):
    live, done = ready
    with live.http() as http:
        assert is_problem(http.get(f"/v1/bundles/{done['release']}"), 404, "missing")


def test_cache_headers_of_other_responses(ready):
    live, _ = ready
    with live.http() as http:
        assert http.get("/v1/rounds/current").headers["cache-control"] == "public, max-age=300"
        for path in ("/v1/ledger", "/v1/search?q=a", "/v1/nothing", "/__heartbeat__"):
            assert http.get(path).headers["cache-control"] == "no-store"
            assert http.get(path).headers["x-content-type-options"] == "nosniff"


def test_many_who_want_a_new_document_at_once_have_it_compressed_once(monkeypatch):
    """When a round is released, all browsers want its bundle; compressing it for each of them would stop everything else."""
    calls, concurrent, lock = [], [], threading.Lock()

    def compress(body: bytes, **_: object) -> bytes:
        calls.append(body)
        concurrent.append(lock.acquire(blocking=False))
        time.sleep(0.05)
        lock.release()
        return body[::-1]

    monkeypatch.setattr(document_cache, "brotli", SimpleNamespace(compress=compress))
    cache = DocumentCache(SimpleNamespace(document=lambda digest, kind: f"{kind} {digest}".encode()))

    async def requests():
        return await asyncio.gather(*(cache.encoded(name, "bundle", "br") for name in "ab" for _ in range(20)))

    assert asyncio.run(requests()) == [b"a eldnub"] * 20 + [b"b eldnub"] * 20
    assert sorted(calls) == [b"bundle a", b"bundle b"]
    assert all(concurrent)


def test_the_rows_of_releases_that_anyone_may_request_do_not_stay_in_memory(ready):
    live, done = ready
    parsed = live.service.documents.content
    with live.http() as http:
        before = parsed.cache_info()
        rows = [http.get(f"/v1/releases/{done['release']}/trends", params={"n": n}).json() for n in (1, 2, 1000)]
        http.get(f"/v1/releases/{done['release']}/files/estimates.csv")
    assert parsed.cache_info() == before
    assert rows[2][:2] == rows[1] == [*rows[0], rows[1][1]]
    assert rows[2] == sorted(rows[2], key=lambda row: -row["share"])
