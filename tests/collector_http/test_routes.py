"""What every route answers, over a real connection."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import anyio
import httpx
import numpy as np
import pytest
import sqlalchemy as sa
import sqlalchemy.exc

from blender_dp.collector.http.messages import ReportMessage
from blender_dp.collector.http.problems import NAMES, PREFIX
from blender_dp.collector.http.rate_limit import Sources
from blender_dp.collector.http.report_check import ReportCheck
from blender_dp.collector.storage.report_counting import count_in_database
from blender_dp.collector.storage.schema import reports
from blender_dp.engines import DuckDBEngine
from blender_dp.logs import find_reports
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.records.reporting_list import ChannelSettings, ReportingList
from blender_dp_device.wire.documents import verified_content
from tests.collector_http.conftest import CAMPAIGN, RECORDS, listening


def is_problem(answer: httpx.Response, status: int, name: str) -> bool:
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert name in NAMES
    assert {"type", "title", "status", "detail"} <= set(body)
    assert (answer.status_code, body["status"], body["type"]) == (status, status, PREFIX + name), answer.text
    return True


def test_a_whole_round(live):
    with live.http() as http:
        empty = http.get("/v1/rounds/current").json()
        assert (empty["round"], empty["released"]) == (None, None)
        assert http.get("/v1/search", params={"q": "q"}).json() == ["q", [], [], []]
        campaign = live.campaign()
        round_id = live.opened(campaign)
        receipts = []
        for i, token in enumerate(live.enrolled(campaign, 150)):
            query, url = RECORDS[i % 5]
            answer = http.post(
                f"/v1/rounds/{round_id}/records",
                json={"query": query, "url": url},
                headers={"Authorization": f"Bearer {token}"},
            )
            assert answer.status_code == 201
            receipts.append(answer.json()["receipt"])
        for _ in range(2):  # its answer may be lost
            assert http.delete(f"/v1/records/{receipts[0]}").status_code == 204
        assert is_problem(http.delete(f"/v1/records/{'0' * 64}"), 404, "missing")
        live.operator("POST", f"/v1/operator/rounds/{round_id}/list")
        listed = live.reached(round_id, "listed")
        messages = live.messages(listed, 200)
        path = f"/v1/rounds/{round_id}/reports"
        bad = {**messages[0], "id": "f" * 32}
        mixed = [messages[0], {**bad, "head_list": "0" * 64}, messages[1], {**bad, "cells": [4_000_000]}]
        mixed += [{**bad, "cells": ["canary"]}, messages[2], {}, None]
        refused = http.post(path, json={"reports": mixed}).json()["refused"]
        assert refused[0] == {"index": 1, "reason": "another head list"}
        assert [one["index"] for one in refused] == [1, 3, 4, 6, 7]
        assert [one["reason"] for one in refused[2:]] == ["malformed"] * 3
        assert is_problem(http.post(path, json={"reports": [{}, None]}), 422, "invalid")  # nothing in it can be read
        with live.service.rounds.store.read() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(reports)) == 3
        for _ in range(2):  # a duplicate is fine
            assert http.post(path, json={"reports": messages}).json() == {"refused": []}
        live.operator("POST", f"/v1/operator/rounds/{round_id}/close")
        done = live.reached(round_id, "released")
        pointer = http.get("/v1/rounds/current").json()
        assert pointer["round"] == pointer["released"] == done
        release = http.get(f"/v1/releases/{done['release']}")
        content = verified_content(release.content, "release", pointer["key"])
        assert content["release"]["manifest"]["reports"] == 200
        assert content["poisoning"]["reports"] == 200
        trends = http.get(f"/v1/releases/{done['release']}/trends", params={"n": 2}).json()
        assert len(trends) == 2
        assert trends[0]["share"] >= trends[1]["share"]
        typed, queries, shares, urls = http.get("/v1/search", params={"q": "QUERY"}).json()
        assert typed == "QUERY"
        assert len(queries) == len(shares) == len(urls) > 0
        ledger = http.get("/v1/ledger").json()
        assert [(one["group"], one["epsilon"]) for one in ledger] == [("opt-in", "4"), ("client", "4")]
        assert ledger[1]["before"] == ledger[0]["digest"]
        assert content["ledger"] == ledger[1]["digest"]
        live.opened(campaign)
        pointer = http.get("/v1/rounds/current").json()
        assert (pointer["round"]["state"], pointer["released"]["id"]) == ("open", round_id)  # the old release stays in sight


def test_two_campaigns_at_a_time(live):
    """Whoever asks for a campaign is told of that one, whatever the others do meanwhile."""
    one, other = live.campaign(), live.campaign(name="other")
    done = live.released(one)
    second = live.opened(other)
    with live.http() as http:
        asked = [http.get("/v1/rounds/current", params={"campaign": name}).json() for name in (one, other)]
        assert [(answer["round"]["id"], answer["released"]) for answer in asked] == [(done["id"], done), (second, None)]
        assert http.get("/v1/rounds/current").json()["round"]["id"] == second
        found = [http.get("/v1/search", params={"q": "q", "campaign": name}).json()[1] for name in (one, other)]
        assert found[0]
        assert found[1] == []
        for path in ("/v1/rounds/current", "/v1/search?q=a"):
            assert is_problem(http.get(path, params={"q": "a", "campaign": "0" * 32}), 404, "missing")
            assert is_problem(http.get(path, params={"q": "a", "campaign": "nobody-has-this-name"}), 404, "missing")
            assert is_problem(http.get(path, params={"q": "a", "campaign": "Not A Name"}), 422, "invalid")
            by_id, by_name = (http.get(path, params={"q": "q", "campaign": name}) for name in (other, "other"))
            assert by_id.json() == by_name.json()


def test_a_report_answers_one_round_alone(live):
    """Equal lists are not enough: another round may ask in another way, and reports would be taken for what they are not."""
    listed = [live.listed(live.campaign(name=name, f_o="0.9")) for name in ("one", "two")]
    documents = [live.service.documents.content(one["head_list"], "head-list") for one in listed]
    messages = live.messages(listed[0], 5)
    with live.http() as http:
        refused = http.post(f"/v1/rounds/{listed[1]['id']}/reports", json={"reports": messages}).json()["refused"]
        assert [one["reason"] for one in refused] == ["another head list"] * 5
        of_the_content = [{**one, "head_list": documents[0]["list_digest"]} for one in messages]
        refused = http.post(f"/v1/rounds/{listed[0]['id']}/reports", json={"reports": of_the_content}).json()["refused"]
        assert [one["reason"] for one in refused] == ["another head list"] * 5
        answer = http.post(f"/v1/rounds/{listed[0]['id']}/reports", json={"reports": messages})
        assert answer.json() == {"refused": []}


@pytest.mark.parametrize(
    ("path", "kind"),
    [("openings", "opening"), ("head-lists", "head_list"), ("bundles", "bundle"), ("releases", "release")],
)
def test_documents_are_immutable_and_packed(ready, path, kind):
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


def test_a_document_of_another_kind_is_missing(ready):
    live, done = ready
    with live.http() as http:
        assert is_problem(http.get(f"/v1/bundles/{done['release']}"), 404, "missing")


def test_what_is_no_document_is_not_kept(ready):
    live, _ = ready
    with live.http() as http:
        assert http.get("/v1/rounds/current").headers["cache-control"] == "public, max-age=300"
        for path in ("/v1/ledger", "/v1/search?q=a", "/v1/nothing", "/__heartbeat__"):
            assert http.get(path).headers["cache-control"] == "no-store"
            assert http.get(path).headers["x-content-type-options"] == "nosniff"


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


def test_steps_that_are_taken_can_be_asked_for_again(live):
    """Whoever did not hear the answer asks again, however far the round has come."""
    done = live.released(live.campaign())
    where = f"/v1/operator/rounds/{done['id']}"
    with live.http(live.token) as http:
        for step in ("list", "close"):
            answer = http.post(f"{where}/{step}")
            assert (answer.status_code, answer.json()) == (202, done)
            assert (answer.headers["location"], answer.headers["retry-after"]) == (where, "1")
        assert http.get(answer.headers["location"]).json() == done
        other = live.opened(done["campaign"])
        assert is_problem(http.post(f"/v1/operator/rounds/{other}/close"), 409, "conflict")
        live.operator("POST", f"/v1/operator/rounds/{other}/abort", json={"reason": "enough"})
        for step in ("list", "close"):
            assert is_problem(http.post(f"/v1/operator/rounds/{other}/{step}"), 409, "conflict")


@pytest.mark.parametrize("reason", ["a\0", "\x1b[2J", "two\nlines", "\x85", ""])
def test_a_reason_is_one_line(live, reason):
    path = f"/v1/operator/rounds/{live.opened(live.campaign())}/abort"
    with live.http(live.token) as http:
        assert is_problem(http.post(path, json={"reason": reason}), 422, "invalid")
        assert http.post(path, json={"reason": "genug für heute"}).json()["problem"] == "genug für heute"


REPORT = {"id": "0" * 32, "head_list": "0" * 64, "cells": [1]}


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
def test_other_messages_are_refused_without_repeating_them(ready, body):
    live, done = ready
    with live.http() as http:
        answer = http.post(f"/v1/rounds/{done['id']}/reports", json=body)
    assert is_problem(answer, 422, "invalid")
    assert {name for one in answer.json()["errors"] for name in one} == {"where", "what"}  # words might quote it
    assert "canary" not in answer.text


def test_another_version(ready):
    """Whatever else a message of another version holds: that it is one is the problem."""
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
def test_nonsense_is_the_senders_fault(ready, content):
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
        ({"Content-Type": "application/json", "Content-Encoding": "gzip"}, "packed"),
        ({"Content-Type": "application/json", "Content-Encoding": "identity, br"}, "packed"),
    ],
)
def test_a_body_of_another_kind(ready, headers, word):
    live, done = ready
    body = gzip.compress(b"{}") if "Content-Encoding" in headers else json.dumps({"reports": [REPORT]}).encode()
    with live.http(live.token) as http:
        for path in (f"/v1/rounds/{done['id']}/reports", "/v1/operator/campaigns"):
            answer = http.post(path, content=body, headers=headers)
            assert is_problem(answer, 415, "media")
            assert word in answer.json()["detail"]
        assert http.post(f"/v1/operator/rounds/{done['id']}/close", headers=headers).status_code == 202  # it reads none


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8", "application/problem+json"])
def test_a_body_of_our_kind(ready, kind):
    live, done = ready
    body, headers = json.dumps({"reports": [REPORT]}).encode(), {"Content-Type": kind, "Content-Encoding": "identity"}
    with live.http() as http:
        answer = http.post(f"/v1/rounds/{done['id']}/reports", content=body, headers=headers)
    assert is_problem(answer, 409, "conflict")  # it is read


def test_a_long_list_of_mistakes_gets_a_short_answer(ready):
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


def test_reports_to_a_round_that_takes_none(ready):
    live, done = ready
    with live.http() as http:
        assert is_problem(http.post(f"/v1/rounds/{done['id']}/reports", json={"reports": [REPORT]}), 409, "conflict")
        assert is_problem(http.post(f"/v1/rounds/{'0' * 32}/reports", json={"reports": [REPORT]}), 404, "missing")


def connected(live, length: int) -> socket.socket:
    """A connection on which a body of that length is announced."""
    host, port = live.url.removeprefix("http://").split(":")
    one = socket.create_connection((host, int(port)), timeout=10)
    lines = f"POST /v1/rounds/{'0' * 32}/reports HTTP/1.1", "Host: x", "Content-Type: application/json"
    one.sendall("\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode())
    return one


def all_of(one: socket.socket) -> bytes:
    """What is answered, until the other side hangs up."""
    answer = b""
    while part := one.recv(65_536):
        answer += part
    return answer


class TestLimits:
    @pytest.fixture
    def small(self, tmp_path):
        with listening(tmp_path / "data", max_body_bytes=2_000, max_reports=3, max_body_seconds=3) as one:
            yield one

    def test_a_body_that_says_it_is_long(self, small):
        with small.http() as http:
            answer = http.post(f"/v1/rounds/{'0' * 32}/reports", content=b" " * 2_001)
        assert is_problem(answer, 413, "too-large")

    def test_a_body_that_says_it_is_long_is_not_waited_for(self, small):
        with connected(small, 2_001) as one:
            assert all_of(one).startswith(b"HTTP/1.1 413 ")

    def test_a_body_that_does_not_say_it(self, small):
        def chunks():
            for _ in range(30):
                yield b" " * 100

        with small.http() as http:
            headers = {"Content-Type": "application/json"}
            answer = http.post(f"/v1/rounds/{'0' * 32}/reports", content=chunks(), headers=headers)
        assert is_problem(answer, 413, "too-large")

    def test_a_length_that_is_none(self, small):
        transport = httpx.ASGITransport(small.app)

        async def post():
            async with httpx.AsyncClient(transport=transport, base_url="http://x") as http:
                return await http.post("/v1/rounds/x/reports", content=b"1", headers={"Content-Length": "9" * 5_000})

        assert is_problem(anyio.run(post), 413, "too-large")

    def test_too_many_reports(self, small):
        with small.http() as http:
            answer = http.post(f"/v1/rounds/{'0' * 32}/reports", json={"reports": [REPORT] * 4})
        assert is_problem(answer, 413, "too-many")

    def test_a_body_that_never_ends(self, small):
        with connected(small, 100) as one:
            one.sendall(b"{")
            answer = all_of(one)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"urn:blender-dp:problem:slow" in answer

    def test_too_many_bytes_at_a_time(self, tmp_path):
        with listening(tmp_path / "data", max_body_bytes=9_000, max_waiting_bytes=10_000, max_body_seconds=5) as one:
            with connected(one, 8_000) as slow, one.http() as http:
                slow.sendall(b" " * 7_000)
                while one.service.bytes_under_way < 7_000:
                    time.sleep(0.01)
                path, headers = f"/v1/rounds/{'0' * 32}/reports", {"Content-Type": "application/json"}
                refused = http.post(path, content=b" " * 4_000, headers=headers)
                small = http.post(path, content=b"{}", headers=headers)
            assert is_problem(refused, 429, "busy")
            assert refused.headers["retry-after"] == "5"
            assert small.status_code == 422
            until = time.monotonic() + 30
            while one.service.bytes_under_way and time.monotonic() < until:
                time.sleep(0.01)
            assert (one.service.bytes_under_way, one.service.under_way) == (0, 0)

    def test_slow_bodies_are_in_nobodys_way(self, tmp_path):
        """Requests are under way from when their body is there: else a few slow clients could occupy all places."""
        with listening(tmp_path / "data", max_waiting=2) as one, ExitStack() as stack:
            slow = [stack.enter_context(connected(one, 15)) for _ in range(8)]
            for client in slow:
                client.sendall(b"{")
            with one.http() as http:
                assert http.get("/v1/rounds/current").status_code == 200
            slow[0].sendall(b'"reports": []}')
            assert slow[0].recv(1000).startswith(b"HTTP/1.1 422 ")

    def test_whoever_hangs_up_is_no_failure(self, live):
        """Operators are told to look at every 500, and anybody can hang up."""
        with connected(live, 100) as one:
            one.sendall(b"{")
        until = time.monotonic() + 30
        with live.http(live.token) as http:
            while 'blender_dp_answers_total{status="499"} 1.0' not in (metrics := http.get("/metrics").text):
                assert time.monotonic() < until
                time.sleep(0.05)
        assert 'status="500"' not in metrics

    def test_what_the_parser_refuses_is_counted(self, live):
        with socket.create_connection(("127.0.0.1", int(live.url.rpartition(":")[2]))) as one:
            one.sendall(b"no HTTP\r\n\r\n")
            assert all_of(one).startswith(b"HTTP/1.1 400 ")
        with live.http(live.token) as http:
            assert 'blender_dp_answers_total{status="400"} 1.0' in http.get("/metrics").text

    def test_a_body_that_comes_in_drops(self, small):
        """The time is the whole body's: else anybody could hold a place for ever, with a byte now and then."""
        with connected(small, 100) as one:
            one.settimeout(0.1)
            answer = b""
            for _ in range(30):
                one.sendall(b" ")
                try:
                    answer = one.recv(65_536)
                    break
                except TimeoutError:
                    continue
        assert answer.startswith(b"HTTP/1.1 408 ")

    def test_a_request_that_is_over_is_not_under_way(self, live, monkeypatch):
        def fail():
            raise RuntimeError

        monkeypatch.setattr(live.service.rounds.budgets, "ledger", fail)
        with live.http() as http:
            for path, status in (("/v1/rounds/current", 200), ("/v1/nothing", 404), ("/v1/ledger", 500)):
                assert http.get(path).status_code == status
        until = time.monotonic() + 5
        while live.service.under_way and time.monotonic() < until:
            time.sleep(0.01)
        assert live.service.under_way == 0

    def test_too_many_at_a_time(self, live):
        live.service.under_way = live.service.settings.max_waiting
        try:
            with live.http() as http:
                answer = http.get("/v1/ledger")
                assert is_problem(answer, 429, "busy")
                assert int(answer.headers["retry-after"]) > 0
                assert http.get("/__lbheartbeat__").status_code == 200  # busy is not dead
        finally:
            live.service.under_way = 0

    def test_a_disk_that_is_nearly_full(self, live, monkeypatch):
        listed = live.listed(live.campaign())
        monkeypatch.setattr(live.service, "free_bytes", lambda: -1)
        (token,) = live.enrolled(listed["campaign"])
        with live.http(token) as http:
            path = f"/v1/rounds/{listed['id']}"
            assert is_problem(http.post(f"{path}/reports", json={"reports": live.messages(listed, 1)}), 507, "full")
            assert is_problem(http.post(f"{path}/records", json={"query": "q"}), 507, "full")
            assert is_problem(http.get("/__heartbeat__"), 507, "full")
        assert shutil.disk_usage(live.data).free > 0

    def test_storage_that_does_not_answer(self, live, monkeypatch, caplog):
        listed = live.listed(live.campaign())
        messages = live.messages(listed, 1)
        for error in (
            sqlalchemy.exc.OperationalError("INSERT canary", {}, OSError("canary")),
            sqlalchemy.exc.TimeoutError("canary"),
            OSError(5, "canary"),
        ):

            def fail(*_, error=error):
                raise error

            monkeypatch.setattr(live.service.rounds.contributions, "add_reports", fail)
            with live.http() as http:
                answer = http.post(f"/v1/rounds/{listed['id']}/reports", json={"reports": messages})
            assert is_problem(answer, 503, "storage")
            assert int(answer.headers["retry-after"]) > 0
            assert "canary" not in answer.text + caplog.text

    @pytest.mark.parametrize(
        "error",
        [
            OSError(errno.ENOSPC, "canary"),
            OSError(errno.EDQUOT, "canary"),
            sqlalchemy.exc.OperationalError("", {}, OSError("Disk full")),
        ],
    )
    def test_a_disk_that_is_full_after_all(self, live, monkeypatch, error):
        listed = live.listed(live.campaign())

        def fail(*_):
            raise error

        monkeypatch.setattr(live.service.rounds.contributions, "add_reports", fail)
        with live.http() as http:
            answer = http.post(f"/v1/rounds/{listed['id']}/reports", json={"reports": live.messages(listed, 1)})
        assert is_problem(answer, 507, "full")


def test_what_nobody_thought_of(live, monkeypatch, caplog, capfd):
    def fail():
        raise RuntimeError("canary")

    monkeypatch.setattr(live.service.rounds.budgets, "ledger", fail)
    with caplog.at_level(logging.DEBUG), live.http() as http:
        answer = http.get("/v1/ledger")
    assert is_problem(answer, 500, "failed")
    said = caplog.text + "".join(capfd.readouterr())
    assert "unexpected: RuntimeError" in caplog.text
    assert "canary" not in answer.text + said
    assert "Traceback" not in answer.text + said


def test_a_damaged_ledger_is_not_the_askers_fault(live):
    live.listed(live.campaign())
    with live.service.rounds.store.write("test") as connection:
        connection.exec_driver_sql("UPDATE ledger SET entry = replace(entry, '\"4\"', '\"3\"')")
    with live.http() as http:
        assert is_problem(http.get("/v1/ledger"), 500, "damaged")


class TestSources:
    def test_a_source_that_sends_too_much(self, tmp_path):
        with listening(tmp_path / "data", reports_per_minute=5) as live:
            listed = live.listed(live.campaign())
            path = f"/v1/rounds/{listed['id']}/reports"
            messages = live.messages(listed, 12)
            with live.http() as http:
                assert is_problem(http.post(path, json={"reports": messages[:6]}), 413, "too-many")
                assert http.post(path, json={"reports": messages[:4]}).status_code == 200
                answer = http.post(path, json={"reports": messages[4:8]})
                assert is_problem(answer, 429, "limited")
                assert 30 < int(answer.headers["retry-after"]) <= 36
                elsewhere = {"X-Forwarded-For": "192.0.2.7"}  # the proxy on this machine is believed
                assert http.post(path, json={"reports": messages[4:8]}, headers=elsewhere).status_code == 200
            kept = repr(vars(live.service.sources))
            assert "127.0.0.1" not in kept
            assert "192.0.2.7" not in kept

    def test_records_and_withdrawals_count_too(self, tmp_path):
        with listening(tmp_path / "data", reports_per_minute=2) as live:
            campaign = live.campaign()
            path, (token,) = f"/v1/rounds/{live.opened(campaign)}/records", live.enrolled(campaign)
            with live.http(token) as http:
                answers = [http.post(path, json={"query": "q"}) for _ in range(3)]
                assert [one.status_code for one in answers] == [201, 201, 429]
                receipt, elsewhere = answers[1].json()["receipt"], {"X-Forwarded-For": "192.0.2.7"}
                assert is_problem(http.delete(f"/v1/records/{receipt}"), 429, "limited")  # one source, whatever it sends
                answers = [http.delete(f"/v1/records/{receipt}", headers=elsewhere) for _ in range(3)]
                assert [one.status_code for one in answers] == [204, 204, 429]  # nobody tries receipts for long
                assert is_problem(answers[2], 429, "limited")

    def test_buckets(self):
        now = [0.0]
        sources = Sources(60, lambda: now[0])
        assert sources.wait("192.0.2.1", 60) == 0
        assert sources.wait("192.0.2.1", 10) == pytest.approx(10)
        assert sources.wait("192.0.2.2", 60) == 0
        now[0] = 10.0
        assert sources.wait("192.0.2.1", 10) == 0
        assert sources.wait("192.0.2.1", 1) == pytest.approx(1)
        now[0] = 3_000.0
        assert sources.wait("192.0.2.1", 61) > 0  # a bucket holds a minute's worth, however long nobody came

    def test_a_household_is_one_source(self):
        sources = Sources(1, lambda: 0.0)
        assert sources.wait("2001:db8::1", 1) == 0
        assert sources.wait("2001:db8::ffff:2", 1) > 0
        assert sources.wait("2001:db8:0:1::1", 1) == 0
        assert sources.wait("::ffff:192.0.2.1", 1) == 0
        assert sources.wait("192.0.2.1", 1) > 0
        assert sources.wait("no address", 1) == 0

    def test_the_key_is_renewed_and_everything_forgotten(self):
        now = [0.0]
        sources = Sources(1, lambda: now[0])
        sources.wait("192.0.2.1", 1)
        key, kept = sources._key, list(sources._buckets)
        now[0] = 3600.0
        sources.wait("192.0.2.1", 1)
        assert sources._key != key
        assert set(kept).isdisjoint(sources._buckets)
        assert len(sources._buckets) == 1

    def test_memory_is_bounded(self, monkeypatch):
        monkeypatch.setattr("blender_dp.collector.http.rate_limit._MOST", 100)
        sources = Sources(1, lambda: 0.0)
        for i in range(1_000):
            sources.wait(str(i), 1)
        assert len(sources._buckets) <= 100

    def test_whoever_has_sent_too_much_is_not_forgotten_for_others(self, monkeypatch):
        monkeypatch.setattr("blender_dp.collector.http.rate_limit._MOST", 100)
        now = [0.0]
        sources = Sources(60, lambda: now[0])
        assert sources.wait("192.0.2.1", 60) == 0
        for i in range(99):
            sources.wait(str(i), 1)
        now[0] = 2.0  # all others' buckets are full again
        assert sources.wait("one more", 1) == 0
        assert sources.wait("192.0.2.1", 10) == pytest.approx(8)


def test_operations(ready):
    live, _ = ready
    with live.http() as http:
        assert http.get("/__lbheartbeat__").json() == {}
        assert http.get("/__heartbeat__").json() == {"storage": "ok", "disk": "ok", "rounds": "ok"}
    with live.http(live.token) as http:
        metrics = http.get("/metrics").text
    assert "blender_dp_reports_total 300.0" in metrics
    assert 'blender_dp_answers_total{status="200"}' in metrics
    assert "blender_dp_free_bytes" in metrics


def test_a_round_on_a_schedule(live, monkeypatch):
    """Nobody asks for anything: the worker takes the steps when they are due."""
    now = [time.time()]
    monkeypatch.setattr(live.service.rounds.clock, "read", lambda: now[0])
    campaign, start = live.campaign(min_opt_in=4), int(now[0])
    round_id = live.opened(campaign, lists_at=start + 3_600, closes_at=start + 7_200)
    for i, token in enumerate(live.enrolled(campaign, 60)):
        live.service.rounds.contributions.upload_record(round_id, token, *RECORDS[i % 5])
    now[0] = start + 3_600
    listed = live.reached(round_id, "listed")
    with live.http() as http:
        assert http.post(f"/v1/rounds/{round_id}/reports", json={"reports": live.messages(listed, 100)}).status_code == 200
    now[0] = start + 7_200
    assert live.reached(round_id, "released")["release"]
    assert (
        json.loads(live.service.documents.document(listed["head_list"], "head-list"))["content"]["expires"]
        == listed["closes_at"]
    )


def exported(live, file, *round_id):
    command = [Path(sys.executable).parent / "blender-dp", "round", "export", *round_id, "--out", file]
    given = {**os.environ, "BLENDER_DP_URL": live.url, "BLENDER_DP_TOKEN": live.token, "COLUMNS": "200"}
    return subprocess.run(command, env=given, capture_output=True, check=False)


def test_the_reports_of_a_round_as_a_file(live, tmp_path):
    """`blender-dp aggregate` counts the same reports as the release."""
    released = live.released(live.campaign(keep_reports_days=1))
    file = tmp_path / "reports.parquet"
    assert exported(live, file, released["id"]).returncode == 0
    content = live.service.documents.content(released["head_list"], "head-list")
    counts, tally = DuckDBEngine().report_counts(
        find_reports([file]), content["list_digest"], HeadList.from_document(content["head_list"]).cell_count
    )
    assert not tally.bad
    with live.service.rounds.store.read() as connection:
        expected, clients = count_in_database(connection, released["id"], len(counts))
    assert clients == 300
    np.testing.assert_array_equal(counts, expected)


def test_reports_that_are_deleted_are_not_exported(ready, tmp_path):
    live, released = ready
    while live.service.rounds.retention.delete_reports():
        pass
    done = exported(live, tmp_path / "reports.parquet", released["id"])
    assert done.returncode == 2
    assert b"has lost reports by now" in done.stderr


def test_only_a_round_that_is_over_is_exported(live, tmp_path):
    round_id = live.opened(live.campaign())
    with live.http(live.token) as http:
        answer = http.get(f"/v1/operator/rounds/{round_id}/reports")
        missing = http.get(f"/v1/operator/rounds/{'0' * 32}/reports")
    assert (answer.status_code, missing.status_code) == (409, 404)
    file = tmp_path / "reports.parquet"
    done = exported(live, file, round_id)
    assert done.returncode == 2
    assert b"409" in done.stderr
    assert list(tmp_path.glob("*.parquet*")) == []
