"""Rounds over HTTP, from opening to release."""

from __future__ import annotations

import json
import time

import pytest
import sqlalchemy as sa
import sqlalchemy.exc

from blender_dp.collector.storage.schema import reports
from blender_dp_device.wire.documents import verified_content
from tests.collector_http.checks import is_problem
from tests.collector_http.conftest import RECORDS


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
        for _ in range(2):  # its response may be lost
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
        assert (pointer["round"]["state"], pointer["released"]["id"]) == ("open", round_id)  # the old release stays visible


def test_two_concurrent_campaigns(live):
    """A request for one campaign shows that one, whatever happens in the others."""
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


def test_a_report_counts_for_one_round_only(live):
    """Equal lists are not enough: another round may use another channel, and reports would be misinterpreted."""
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


def test_a_completed_step_can_be_requested_again(live):
    """A client that lost the response repeats its request, however far the round has advanced."""
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
    """Without any request, the worker takes the steps when they are due."""
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
