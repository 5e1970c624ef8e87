"""Whatever is sent: no 5xx, no traceback, and private strings appear nowhere."""

from __future__ import annotations

import json
import logging

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import CHECKS

from blender_dp_device.wire.problems import MEDIA_TYPE
from tests.collector_http.conftest import CAMPAIGN, listening
from tests.collector_http.test_authorisation import MATRIX
from tests.conftest import ROOT

CANARY = "kanarienvogel"  # in the form that records are stored in
SPEC = json.loads((ROOT / "spec/openapi.json").read_text(encoding="utf-8"))
CHECKED = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")
_schema = schemathesis.openapi.from_dict(SPEC)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    with listening(tmp_path_factory.mktemp("fuzzed") / "data") as live:
        live.campaign()
        yield live


@_schema.parametrize()
@settings(max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
def test_the_service_matches_its_description(case, fuzzed):
    checks = [CHECKS.get_one(name) for name in CHECKED]
    for token in (None, fuzzed.token):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = case.call(base_url=fuzzed.url, headers=headers)
        case.validate_response(answer, checks=checks)
        assert "Traceback" not in answer.text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMED = st.dictionaries(st.sampled_from(["reports", "version", "id", "head_list", "cells", "query", "url"]), JSON)
REPORT = st.fixed_dictionaries({"id": st.just("0" * 32), "head_list": st.just("0" * 64), "cells": st.lists(st.integers())})
BODY = JSON | NAMED | st.fixed_dictionaries({"reports": st.lists(REPORT | NAMED | JSON, max_size=3)})


@given(BODY, st.sampled_from(["reports", "records"]))
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
def test_random_bodies(fuzzed, body, kind):
    with fuzzed.http("0" * 64) as http:
        answer = http.post(
            f"/v1/rounds/{'0' * 32}/{kind}",
            content=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
    assert 400 <= answer.status_code < 500
    assert answer.headers["content-type"] == MEDIA_TYPE


@given(st.binary(max_size=200), st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=40))
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
def test_random_bytes(fuzzed, body, kind):
    with fuzzed.http() as http:
        try:
            answer = http.post(
                f"/v1/rounds/{'0' * 32}/reports", content=body, headers={"Content-Type": kind.strip().encode("latin-1")}
            )
        except httpx.LocalProtocolError:
            return
    assert 400 <= answer.status_code < 500
    assert answer.headers["content-type"] == MEDIA_TYPE


def test_private_strings_appear_nowhere(tmp_path, caplog, capfd):
    """One word, sent in every possible field, by every role, to every route."""
    caplog.set_level(logging.DEBUG, logger="blender_dp")
    caplog.set_level(logging.DEBUG, logger="uvicorn")
    with listening(tmp_path / "data") as live:
        campaign = live.campaign()
        round_id, (token,) = live.opened(campaign), live.enrolled(campaign)
        answers = []
        with live.http() as http:
            stored = http.post(
                f"/v1/rounds/{round_id}/records",
                json={"query": CANARY, "url": f"https://{CANARY}.example/"},
                headers={"Authorization": f"Bearer {token}"},
            )
            assert stored.status_code == 201
            answers.append(stored)
            for method, path in MATRIX:
                for given_token in (None, token, live.token, CANARY):
                    for part in (CANARY, "0" * 64):
                        where = path.format(digest=part, receipt=part, campaign=part[:32], round_id=part[:32], name=part)
                        headers = {"X-Canary": CANARY, "User-Agent": CANARY, "Idempotency-Key": CANARY, "Cookie": CANARY}
                        if given_token:
                            headers["Authorization"] = f"Bearer {given_token}"
                        for body in (
                            {CANARY: CANARY, "query": [CANARY], "reason": {CANARY: 1}},
                            {"reports": [{"id": CANARY, "head_list": CANARY, "cells": [CANARY], CANARY: 1}]},
                            CANARY,
                        ):
                            query = {"n": CANARY, CANARY: CANARY}
                            answers.append(http.request(method, where, params=query, json=body, headers=headers))
            answers += [http.get(f"/{CANARY}?{CANARY}"), http.get(f"/v1/ledger/?{CANARY}"), http.request(CANARY, "/metrics")]
            answers.append(http.get("/metrics", headers={"Authorization": f"Bearer {live.token}"}))
            assert answers[-1].status_code == 200
        assert not [answer for answer in answers if answer.status_code >= 500]
        assert not [answer for answer in answers if CANARY in answer.text + str(answer.headers)]
        assert len({answer.status_code for answer in answers}) > 5
        for path in live.data.rglob("*"):
            if path.is_file():
                assert CANARY.encode() not in path.read_bytes(), path
    assert CANARY not in caplog.text + "".join(capfd.readouterr())


def test_search_returns_what_was_typed_and_stores_it_nowhere(ready, caplog):
    """OpenSearch's format repeats it to the user who typed it; no cache may store it."""
    live, _ = ready
    with live.http(live.token) as http:
        answer = http.get("/v1/search", params={"q": CANARY})
        assert answer.json()[0] == CANARY
        assert answer.headers["cache-control"] == "no-store"
        metrics = http.get("/metrics")
        assert metrics.status_code == 200
        assert CANARY not in metrics.text + caplog.text


def test_the_description_is_complete():
    operations = [(path, method, one) for path, methods in SPEC["paths"].items() for method, one in methods.items()]
    described = {(method.upper(), path) for path, method, _ in operations}
    assert described == {key for key in MATRIX if key[1].startswith("/v1/") and key[1] != "/v1/openapi.json"}
    assert len({one["operationId"] for *_, one in operations}) == len(operations)
    for path, method, one in operations:
        assert one["description"], path
        wanted = MATRIX[method.upper(), path]["nobody"] == 401
        assert ("401" in one["responses"]) == ("security" in one) == wanted, path
        for status, answer in one["responses"].items():
            if int(status) >= 400:
                assert list(answer["content"]) == [MEDIA_TYPE], (path, status)
    assert CAMPAIGN.keys() <= SPEC["components"]["schemas"]["CampaignSettings"]["properties"].keys()
