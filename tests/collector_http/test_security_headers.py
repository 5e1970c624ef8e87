"""Every response keeps browsers from framing, sniffing and embedding it, and from naming it to others."""

from __future__ import annotations

import re
import socket
from urllib.parse import urlsplit

import httpx
import pytest

from tests.collector_http.conftest import Live, listening
from tests.collector_http.test_authorisation import MATRIX
from tests.collector_http.test_cross_origin import named

EVERYWHERE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    with listening(tmp_path_factory.mktemp("headers") / "data") as one:
        one.campaign()
        yield one


def is_safe(answer: httpx.Response) -> bool:
    assert {name: answer.headers.get_list(name) for name in EVERYWHERE} == {name: [it] for name, it in EVERYWHERE.items()}
    (policy,) = answer.headers.get_list("content-security-policy")
    for part in ("default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"):
        assert part in policy.split("; ")
    assert "unsafe" not in policy
    assert "set-cookie" not in answer.headers
    assert answer.headers.get_list("cache-control") != []
    return True


@pytest.mark.parametrize(("method", "path"), MATRIX, ids=lambda part: part)
def test_every_route(live: Live, method: str, path: str) -> None:
    for token in (None, live.token):
        with live.http(token) as http:
            assert is_safe(http.request(method, named(path)))
            assert is_safe(http.options(named(path)))


def test_pages_assets_and_mistakes(live: Live) -> None:
    with live.http() as http:
        page = http.get("/", headers=HTML)
        assets = re.findall(r'"(/dashboard/[^"]+)"', page.text)
        assert len(assets) == 2
        for path in ("/join", "/nothing", "/v2/ledger", "/dashboard/nothing.js", "/%ff", *assets):
            assert is_safe(http.get(path, headers=HTML)), path
        assert is_safe(page)
        assert is_safe(http.head("/"))
        assert is_safe(http.post("/v1/operator/campaigns", content=b"x" * 100_000))
        assert is_safe(http.get("/", headers={"X-Long": "x" * 100_000}))


def test_what_is_no_http(live: Live) -> None:
    place = urlsplit(live.url)
    with socket.create_connection((place.hostname, place.port)) as client:
        client.sendall(b"GET\r\n\r\n")
        text = b"".join(iter(lambda: client.recv(65_536), b"")).decode()
    lines = text.partition("\r\n\r\n")[0].split("\r\n")[1:]
    assert is_safe(httpx.Response(400, headers=[tuple(line.split(": ", 1)) for line in lines]))
