"""Requests that are refused, and how the responses explain it."""

from __future__ import annotations

import gzip
import json
import logging

import pytest

from blender_dp.collector.http.report_check import ReportCheck
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.records.reporting_list import ChannelSettings, ReportingList
from blender_dp_device.wire.messages import ReportMessage
from tests.collector_http.checks import REPORT, is_problem
from tests.collector_http.conftest import CAMPAIGN


def test_http_problems(ready):
    live, _ = ready
    with live.http() as http:
        assert is_problem(http.get("/v1/nothing"), 404, "missing")
        assert is_problem(http.get("/v1/ledger/"), 404, "missing")  # and no redirect, which would repeat the query
        assert is_problem(http.get("/v2/ledger"), 404, "version")
        answer = http.put("/v1/ledger")
        assert is_problem(answer, 405, "method")
        assert answer.headers["allow"] == "GET"
        assert is_problem(http.get("/v1/releases/short"), 422, "invalid")
        assert is_problem(http.get("/v1/search"), 422, "invalid")


@pytest.mark.parametrize(
    "body",
    [
        {"reports": [REPORT], "canary": 1},
        {"reports": [{**REPORT, "canary": 1}]},
        {"reports": [REPORT], "version": True},
        {"reports": [REPORT], "version": 1.0},
        {"reports": [REPORT], "version": "1"},
        {"reports": []},
        {"reports": [{**REPORT, "cells": ["1"]}]},
        {"reports": [{**REPORT, "cells": [True]}]},
        {"reports": [{**REPORT, "cells": [1.0]}]},
        {"reports": [{**REPORT, "cells": [-1]}]},
        {"reports": [{**REPORT, "id": "canary"}]},
        {"reports": {"canary": REPORT}},
        ["canary"],
        None,
    ],
)
def test_invalid_messages_are_refused_without_repeating_them(ready, body):
    live, done = ready
    with live.http() as http:
        answer = http.post(f"/v1/rounds/{done['id']}/reports", json=body)
    assert is_problem(answer, 422, "invalid")
    assert {name for one in answer.json()["errors"] for name in one} == {"where", "what"}  # the words might quote it
    assert "canary" not in answer.text


def test_another_version(ready):
    """Whatever else a message of another version contains, its version is the problem."""
    live, done = ready
    bodies = {f"/v1/rounds/{done['id']}/reports": {"reports": [REPORT]}, "/v1/operator/campaigns": CAMPAIGN}
    with live.http(live.token) as http:
        for path, body in bodies.items():
            assert is_problem(http.post(path, json={**body, "version": 2, "canary": 1}), 422, "version")
            assert is_problem(http.post(path, json={**body, "version": True}), 422, "invalid")
            assert is_problem(http.post(path, json={**body, "version": 1}), 409, "conflict")  # it is read


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[" * 200_000, b"\xff\xfe", b'{"reports": ' + b"9" * 5_000 + b"}", b'{"reports": "\\ud800"}', b"NaN"],
)
def test_nonsense_is_a_client_error(ready, content):
    live, done = ready
    with live.http() as http:
        answer = http.post(f"/v1/rounds/{done['id']}/reports", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("headers", "word"),
    [
        ({"Content-Type": "text/plain"}, "application/json"),
        ({"Content-Type": "application/jsonx"}, "application/json"),
        ({}, "application/json"),
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, "compressed"),
        ({"Content-Type": "application/json", "Content-Encoding": "identity, br"}, "compressed"),
    ],
)
def test_a_body_of_another_content_type_is_refused(ready, headers, word):
    live, done = ready
    body = gzip.compress(b"{}") if "Content-Encoding" in headers else json.dumps({"reports": [REPORT]}).encode()
    with live.http(live.token) as http:
        for path in (f"/v1/rounds/{done['id']}/reports", "/v1/operator/campaigns"):
            answer = http.post(path, content=body, headers=headers)
            assert is_problem(answer, 415, "media")
            assert word in answer.json()["detail"]
        assert http.post(f"/v1/operator/rounds/{done['id']}/close", headers=headers).status_code == 202  # it reads no body


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"])
def test_a_json_body_is_accepted(ready, kind):
    live, done = ready
    body, headers = json.dumps({"reports": [REPORT]}).encode(), {"Content-Type": kind, "Content-Encoding": "identity"}
    with live.http() as http:
        answer = http.post(f"/v1/rounds/{done['id']}/reports", content=body, headers=headers)
    assert is_problem(answer, 409, "conflict")  # it is read


def test_a_long_list_of_mistakes_gets_a_short_response(ready):
    live, done = ready
    with live.http() as http:
        answer = http.post(f"/v1/rounds/{done['id']}/reports", json={"reports": [{}] * 5_000})
    assert len(answer.content) < 4_000


def test_unsorted_cells_are_refused(ready):
    live, done = ready
    content = live.service.documents.content(done["head_list"], "head-list")
    head_list = HeadList.from_document(content["head_list"])
    two = ChannelSettings.of(epsilon=4, f_c="0.85", subset_size=2)
    listed = ReportCheck(done["head_list"], ReportingList(head_list, two))
    first, second = head_list.starts[0], head_list.starts[1]

    def reason(*cells):
        return listed.problem(ReportMessage(id="0" * 32, head_list=done["head_list"], cells=list(cells)))

    assert reason(first, second) is None
    assert reason(second, first) == "not sorted"
    assert reason(first, first + 1) == "a query twice"
    assert reason(first) == "wrong number of cells"
    assert reason(first, head_list.cell_count) == "no such cell"


def test_reports_to_a_round_that_accepts_none(ready):
    live, done = ready
    with live.http() as http:
        assert is_problem(http.post(f"/v1/rounds/{done['id']}/reports", json={"reports": [REPORT]}), 409, "conflict")
        assert is_problem(http.post(f"/v1/rounds/{'0' * 32}/reports", json={"reports": [REPORT]}), 404, "missing")


def test_an_unexpected_error_quotes_nothing(live, monkeypatch, caplog, capfd):
    def fail():
        raise RuntimeError("canary")

    monkeypatch.setattr(live.service.rounds.budgets, "ledger", fail)
    with caplog.at_level(logging.DEBUG), live.http() as http:
        answer = http.get("/v1/ledger")
    assert is_problem(answer, 500, "failed")
    logged = caplog.text + "".join(capfd.readouterr())
    assert "unexpected: RuntimeError" in caplog.text
    assert "canary" not in answer.text + logged
    assert "Traceback" not in answer.text + logged


def test_a_damaged_ledger_is_a_server_error(live):
    live.listed(live.campaign())
    with live.service.rounds.store.write("test") as connection:
        connection.exec_driver_sql("UPDATE ledger SET entry = replace(entry, '\"4\"', '\"3\"')")
    with live.http() as http:
        assert is_problem(http.get("/v1/ledger"), 500, "damaged")
