"""Pages of other origins may use the routes for devices, without any credentials of the browser, and no other route."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.collector_http.checks import REPORT, is_problem
from tests.collector_http.conftest import listening
from tests.collector_http.test_authorisation import MATRIX

PAGE = {"Origin": "https://page.example"}
DEVICES = {
    ("GET", "/v1/rounds/current"): None,
    ("GET", "/v1/openings/{digest}"): None,
    ("GET", "/v1/head-lists/{digest}"): None,
    ("GET", "/v1/bundles/{digest}"): None,
    ("POST", "/v1/rounds/{round_id}/reports"): "content-type",
    ("POST", "/v1/rounds/{round_id}/records"): "authorization, content-type",
    ("DELETE", "/v1/records/{receipt}"): None,
}
"""The routes, with the headers that a page may set."""
NAMES = {"digest": "0" * 64, "receipt": "0" * 64, "round_id": "0" * 32, "campaign": "searches"}


def named(path: str) -> str:
    """The path with a name in every place."""
    return re.sub(r"\{(\w+)\}", lambda place: NAMES.get(place[1], "x"), path)


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    with listening(tmp_path_factory.mktemp("pages") / "data", max_waiting=4) as one:
        one.opened(one.campaign())
        yield one


def preflight(live, path: str, method: str, **more: str) -> httpx.Response:
    wanted = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization,content-type"}
    with live.http() as http:
        return http.options(named(path), headers=PAGE | wanted | more)


def permissions(answer: httpx.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}


@pytest.mark.parametrize(("method", "path"), MATRIX, ids=lambda part: part)
def test_only_the_routes_for_devices_can_be_read(live, method, path):
    """With the operator's token as well: responses to operators are never readable."""
    for token in (None, live.token):
        with live.http(token) as http:
            answer = http.request(method, named(path), headers=PAGE)
        allowed = {"access-control-allow-origin": "*", "access-control-expose-headers": "retry-after"}
        assert permissions(answer) == (allowed if (method, path) in DEVICES else {})


@pytest.mark.parametrize(("method", "path"), MATRIX, ids=lambda part: part)
def test_preflights(live, method, path):
    answer = preflight(live, path, method)
    if (method, path) not in DEVICES:
        assert is_problem(answer, 405, "method")
        assert permissions(answer) == {}
        return
    assert (answer.status_code, answer.content) == (204, b"")
    allowed = permissions(answer)
    assert allowed["access-control-allow-origin"] == "*"
    assert allowed["access-control-allow-methods"] == method
    assert allowed["access-control-max-age"] == "86400"
    assert allowed.get("access-control-allow-headers") == DEVICES[method, path]
    assert "access-control-allow-credentials" not in allowed


def test_the_response_is_the_same_for_every_origin(live):
    """A shared cache must not store one origin's permission for all others."""
    with live.http() as http:
        answers = [
            http.get("/v1/rounds/current", headers=headers)
            for headers in ({}, PAGE, {"Origin": "null"}, {"Origin": "chrome-extension://abc"})
        ]
    shown = [{name: value for name, value in one.headers.items() if name not in {"date", "x-request-id"}} for one in answers]
    assert all(one == shown[0] for one in shown)
    assert "origin" not in answers[0].headers.get("vary", "").lower()


def test_errors_can_be_read(live):
    """A page must see why a report was refused, and when to try again."""
    with live.http() as http:
        missing = http.post(f"/v1/rounds/{'0' * 32}/reports", json={"reports": [REPORT]}, headers=PAGE)
        media = http.post(f"/v1/rounds/{'0' * 32}/reports", content=b"{}", headers=PAGE | {"Content-Type": "text/plain"})
    assert is_problem(missing, 404, "missing")
    assert is_problem(media, 415, "media"), "without a preflight, a page can only send text"
    assert missing.headers["access-control-allow-origin"] == media.headers["access-control-allow-origin"] == "*"


def test_options_without_a_preflight_is_no_method(live):
    with live.http() as http:
        assert is_problem(http.options("/v1/rounds/current", headers=PAGE), 405, "method")


def test_preflights_are_subject_to_the_limits(live):
    with live.http() as http:
        answer = http.options("/v1/rounds/current", headers=PAGE | {"X-Long": "x" * 40_000})
    assert answer.status_code == 431
    live.service.under_way += 10
    try:
        answer = preflight(live, "/v1/rounds/current", "GET")
    finally:
        live.service.under_way -= 10
    assert is_problem(answer, 429, "busy")
    assert answer.headers["retry-after"] == "5"


def test_an_operator_can_switch_it_off(tmp_path):
    with listening(tmp_path / "data", web_pages=False) as live:
        assert is_problem(preflight(live, "/v1/rounds/current", "GET"), 405, "method")
        with live.http() as http:
            assert permissions(http.get("/v1/rounds/current", headers=PAGE)) == {}
