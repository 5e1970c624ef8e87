"""Every route, with every kind of token. A route without a row here fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from blender_dp.collector.secrets import vault
from blender_dp.collector.storage.schema import tokens
from tests.collector_http.conftest import CAMPAIGN, listening

ROLES = ("nobody", "opt-in", "opt-in elsewhere", "operator", "wrong")
EVERYONE = dict.fromkeys(ROLES, True)
OPERATOR = {"nobody": 401, "opt-in": 403, "opt-in elsewhere": 403, "operator": True, "wrong": 403}
OPT_IN = {"nobody": 401, "opt-in": True, "opt-in elsewhere": 403, "operator": 403, "wrong": 403}

MATRIX: dict[tuple[str, str], dict[str, bool | int]] = {
    ("GET", "/"): EVERYONE,
    ("GET", "/join"): EVERYONE,
    ("GET", "/dashboard/{name}"): EVERYONE,
    ("GET", "/v1/openapi.json"): EVERYONE,
    ("GET", "/__lbheartbeat__"): EVERYONE,
    ("GET", "/__heartbeat__"): EVERYONE,
    ("GET", "/__version__"): EVERYONE,
    ("GET", "/metrics"): OPERATOR,
    ("GET", "/v1/rounds/current"): EVERYONE,
    ("GET", "/v1/openings/{digest}"): EVERYONE,
    ("GET", "/v1/head-lists/{digest}"): EVERYONE,
    ("GET", "/v1/bundles/{digest}"): EVERYONE,
    ("GET", "/v1/releases/{digest}"): EVERYONE,
    ("GET", "/v1/releases/{digest}/trends"): EVERYONE,
    ("GET", "/v1/search"): EVERYONE,
    ("GET", "/v1/campaigns"): EVERYONE,
    ("GET", "/v1/campaigns/{campaign}/trends"): EVERYONE,
    ("GET", "/v1/campaigns/{campaign}/rounds"): EVERYONE,
    ("GET", "/v1/campaigns/{campaign}/changes"): EVERYONE,
    ("GET", "/v1/campaigns/{campaign}/promise"): EVERYONE,
    ("GET", "/v1/campaigns/{campaign}/audit"): EVERYONE,
    ("GET", "/v1/releases/{digest}/files/{name}"): EVERYONE,
    ("GET", "/v1/ledger"): EVERYONE,
    ("POST", "/v1/rounds/{round_id}/reports"): EVERYONE,
    ("DELETE", "/v1/records/{receipt}"): EVERYONE,  # the receipt grants the right
    ("POST", "/v1/rounds/{round_id}/records"): OPT_IN,
    ("GET", "/v1/operator/overview"): OPERATOR,
    ("GET", "/v1/operator/plan"): OPERATOR,
    ("POST", "/v1/operator/campaigns"): OPERATOR,
    ("GET", "/v1/operator/campaigns"): OPERATOR,
    ("POST", "/v1/operator/campaigns/{campaign}/rounds"): OPERATOR,
    ("GET", "/v1/operator/campaigns/{campaign}/rounds/current"): OPERATOR,
    ("GET", "/v1/operator/rounds"): OPERATOR,
    ("GET", "/v1/operator/campaigns/{campaign}/budget"): OPERATOR,
    ("POST", "/v1/operator/campaigns/{campaign}/enrolments"): OPERATOR,
    ("GET", "/v1/operator/campaigns/{campaign}/invitation"): OPERATOR,
    ("GET", "/v1/operator/rounds/{round_id}"): OPERATOR,
    ("GET", "/v1/operator/rounds/{round_id}/reports"): OPERATOR,
    ("POST", "/v1/operator/rounds/{round_id}/list"): OPERATOR,
    ("POST", "/v1/operator/rounds/{round_id}/close"): OPERATOR,
    ("POST", "/v1/operator/rounds/{round_id}/abort"): OPERATOR,
}
REPORT = {"id": "0" * 32, "head_list": "0" * 64, "cells": [1]}
BODIES = {
    "reports": {"reports": [REPORT]}, "records": {"query": "q"}, "campaigns": CAMPAIGN, "rounds": {},
    "enrolments": {"count": 1}, "abort": {"reason": "r"},
}  # fmt: skip

QUERIES = {
    "search": {"q": "a"}, "plan": {"epsilon": "4", "delta": "1e-6", "users": "1000", "opt_in": "0.5"},
    "invitation": {"public_url": "https://collector.example", "lifetime_epsilon": "8"},
}  # fmt: skip


def routes(app_routes: list[Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """All routes of an app, those of its routers included."""
    for route in app_routes:
        if hasattr(route, "path") and hasattr(route, "methods"):
            yield from ((method, prefix + route.path) for method in route.methods - {"HEAD"})
        else:
            yield from routes(route.original_router.routes, prefix)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Two campaigns with an open round each, and a token of each kind."""
    with listening(tmp_path_factory.mktemp("roles") / "data") as live:
        one, other = live.campaign(), live.campaign(name="other")
        given = {
            "nobody": None,
            "opt-in": live.enrolled(one)[0],
            "opt-in elsewhere": live.enrolled(other)[0],
            "operator": live.token,
            "wrong": vault.new_token(),
        }
        yield live, one, live.opened(one), given


def test_every_route_has_a_row(world):
    live, *_ = world
    assert set(routes(live.app.routes)) == set(MATRIX)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("method", "path"), MATRIX, ids=lambda part: part)
def test_who_may_do_what(world, method, path, role):
    live, campaign, round_id, given = world
    where = path.format(digest="0" * 64, receipt="0" * 64, campaign=campaign, round_id=round_id, name="release.json")
    if path.endswith(("/abort", "/campaigns/{campaign}/rounds")):
        where = where.replace(round_id, "0" * 32).replace(campaign, "0" * 32)  # nothing changes for the other rows
    parameters = QUERIES.get(path.rpartition("/")[2])
    with live.http(given[role]) as http:
        answer = http.request(method, where, params=parameters, json=BODIES.get(path.rpartition("/")[2]))
    expected = MATRIX[method, path][role]
    if expected is True:
        assert answer.status_code not in {401, 403, 405, 422, 500}, answer.text
    else:
        assert answer.status_code == expected, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert ("www-authenticate" in answer.headers) == (expected == 401)


@pytest.mark.parametrize(
    ("method", "path", "role"),
    [
        (*key, role)
        for key, row in MATRIX.items()
        for role in ("nobody", "wrong")
        if role == "nobody" or row is OPERATOR
        if row is not EVERYONE
    ],
    ids=lambda part: part,
)
def test_an_unauthorised_request_reveals_nothing_about_the_message(world, method, path, role):
    """A body is not validated before the operator's token is checked, or if there is none."""
    live, campaign, round_id, given = world
    with live.http(given[role]) as http:
        answer = http.request(method, path.format(campaign=campaign, round_id=round_id), json={"canary": 1})
    assert answer.status_code == MATRIX[method, path][role]


@pytest.mark.parametrize("header", ["", "Bearer", "Basic x", "bearer\tx", "Token {token}", "Bearer {token}x"])
def test_other_headers(world, header):
    live, *_ = world
    with live.http() as http:
        answer = http.get("/v1/operator/campaigns", headers={"Authorization": header.format(token=live.token)})
    assert answer.status_code in {401, 403}


def test_tokens_are_stored_as_digests(world):
    live, _, _, given = world
    with live.service.rounds.store.read() as connection:
        rows = connection.execute(sa.select(tokens)).all()
    kept = {row.digest for row in rows}
    known = [given[role] for role in ("opt-in", "opt-in elsewhere", "operator")]
    assert {vault.token_digest(token) for token in known} <= kept
    on_disk = b"".join(path.read_bytes() for path in live.data.rglob("*") if path.is_file())
    for token in known:
        assert token.encode() not in on_disk


def test_the_comparison_takes_the_same_time(world, monkeypatch):
    """All known digests are compared, each in constant time."""
    live, *_ = world
    compared = []
    monkeypatch.setattr(vault.hmac, "compare_digest", lambda *both: compared.append(both) or False)
    with live.service.rounds.store.write("test") as connection:
        connection.execute(tokens.insert(), {"digest": "f" * 64, "role": "operator", "campaign": None, "created": 0})
    with live.http(live.token) as http:
        assert http.get("/v1/operator/campaigns").status_code == 403
    assert len(compared) == 2


def test_a_token_from_the_settings_replaces_the_created_one(tmp_path):
    with listening(tmp_path / "data") as live, live.http(live.token) as http:
        assert http.get("/v1/operator/campaigns").status_code == 200
    token = vault.new_token()
    with listening(tmp_path / "data", operator_token=vault.token_digest(token)) as again:
        for given, status in ((live.token, 403), (token, 200), ("", 401)):
            with again.http(given) as http:
                assert http.get("/v1/operator/campaigns").status_code == status


def test_a_token_from_the_settings(tmp_path):
    token = vault.new_token()
    with listening(tmp_path / "data", operator_token=vault.token_digest(token)) as live:
        assert live.token == ""
        with live.http(token) as http:
            assert http.get("/v1/operator/campaigns").json() == []
        with live.http(vault.token_digest(token)) as http:
            assert http.get("/v1/operator/campaigns").status_code == 403
