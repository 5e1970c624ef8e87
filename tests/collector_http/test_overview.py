"""What an operator watches, and plans for campaigns that do not exist yet."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import SimpleNamespace
from urllib.parse import urlencode, urlsplit

import pytest

from blender_dp.collector.http.gone_clients import unless_gone
from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.http.report_count import ReportCount
from blender_dp.collector.rounds.budget import Budget
from blender_dp.planning import plan, simulation
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import Simulated
from blender_dp.privacy.loss import Loss
from tests.collector_http.checks import is_problem
from tests.collector_http.conftest import HANG, Live, listening

PLAN = {"epsilon": "4", "delta": "1e-6", "users": 500_000, "opt_in": "0.05", "max_queries": 50}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with listening(tmp_path_factory.mktemp("data")) as made:
        yield made


@pytest.mark.slow
def test_the_overview_follows_a_round(live: Live) -> None:
    campaign = live.campaign(name="watched", max_epsilon="12", max_delta="1e-5")
    (one,) = live.operator("GET", "/v1/operator/overview")["campaigns"]
    assert (one["round"], one["reports"], [step["step"] for step in one["steps"]]) == (None, None, ["open"])
    assert one["rounds_left"] == 3
    assert {(line["group"], line["limit"]): line["rounds_left"] for line in one["budget"]} == {
        ("opt-in", "max_epsilon"): 3,
        ("opt-in", "max_delta"): 10,
        ("client", "max_epsilon"): 3,
        ("client", "max_delta"): None,
    }

    contributed = live.opened(campaign)
    for token in live.enrolled(campaign, 3):
        live.upload(contributed, token, "q", "https://q.example/")
    (one,) = live.operator("GET", "/v1/operator/overview")["campaigns"]
    assert (one["round"]["state"], one["opt_in_users"], one["reports"]) == ("open", 3, None)
    live.operator("POST", f"/v1/operator/rounds/{contributed}/abort", json={"reason": "a test"})

    listed = live.listed(campaign)
    (one,) = live.operator("GET", "/v1/operator/overview")["campaigns"]
    assert (one["round"]["state"], one["meaning"], one["reports"]) == ("listed", "clients report", 0)
    assert one["opt_in_users"] is None
    assert [step["step"] for step in one["steps"]] == ["close", "abort"]
    assert one["rounds_left"] == 2

    bad = {"id": "f" * 32, "head_list": listed["head_list"], "cells": [10_000]}
    with live.http() as http:
        http.post(f"/v1/rounds/{listed['id']}/reports", json={"reports": [*live.messages(listed, 7), bad]})
    live.service.report_count.forget_others(set())
    live.service.recent.forget()
    seen = live.operator("GET", "/v1/operator/overview")
    assert seen["campaigns"][0]["reports"] == 7
    assert seen["reports_stored"] == 7
    assert seen["reports_refused"] == {"no such cell": 1}
    assert seen["health"] == {"storage": "ok", "disk": "ok", "rounds": "ok"}


def test_the_overview_shows_what_is_wrong(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live.service, "free_bytes", lambda: -1)
    monkeypatch.setattr(live.service.watch, "problem", lambda: "a round is stuck")
    live.service.recent.forget()
    health = live.operator("GET", "/v1/operator/overview")["health"]
    assert health == {"storage": "ok", "disk": "the disk is nearly full; nothing was stored", "rounds": "a round is stuck"}


@pytest.mark.slow
def test_steps_say_what_they_spend_and_destroy(live: Live) -> None:
    campaign = live.campaign(name="said")
    round_id = live.opened(campaign)
    overview = live.operator("GET", "/v1/operator/overview")
    freeze, abort = next(one for one in overview["campaigns"] if one["name"] == "said")["steps"]
    assert "spends ε = 4 of the budget of opt-in users and of clients" in freeze["says"]
    assert "destroys raw records" in freeze["says"]
    assert "cannot be undone" in freeze["says"]
    assert "spends nothing" in abort["says"]
    live.operator("POST", f"/v1/operator/rounds/{round_id}/abort", json={"reason": "a test"})


def test_the_overview_needs_the_operators_token(live: Live) -> None:
    with live.http() as http, live.http("0" * 64) as wrong:
        for path in ("/v1/operator/overview", "/v1/operator/plan"):
            assert http.get(path, params=PLAN).status_code == 401
            assert wrong.get(path, params=PLAN).status_code == 403


@pytest.mark.slow
def test_a_plan_is_that_of_the_planner(live: Live) -> None:
    shown = live.operator("GET", "/v1/operator/plan", params=PLAN)
    expected = plan("aol", opt_in="0.05", users=500_000, epsilon=4, delta="1e-6", max_queries=50).forecast
    assert shown["queries"]["mean"] == expected.queries.mean  # a closed form
    assert shown["query_l1"]["mean"] == pytest.approx(expected.query_l1.mean, rel=0.2)
    assert shown["opt_in_users"] == 25_000
    assert shown["warnings"] == []
    weak = live.operator("GET", "/v1/operator/plan", params={**PLAN, "delta": "0.01"})
    assert weak["warnings"]


@pytest.mark.slow
def test_a_plan_can_start_from_a_release(live: Live) -> None:
    digest = live.released(live.campaign(name="planned"))["release"]
    shown = live.operator("GET", "/v1/operator/plan", params={**PLAN, "shape": digest, "users": 1000, "opt_in": "0.4"})
    assert 4 < shown["queries"]["mean"] < 5.1


def test_a_plan_from_an_unknown_release(live: Live) -> None:
    with live.http(live.token) as http:
        assert is_problem(http.get("/v1/operator/plan", params={**PLAN, "shape": "0" * 64}), 404, "missing")
        described = http.get("/v1/openapi.json").json()["paths"]["/v1/operator/plan"]["get"]
    assert "404" in described["responses"]


def test_plans_do_not_pile_up(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four may wait. Of those that nobody waits for any more, only the one that has started is computed."""
    started, finish, computed = threading.Event(), threading.Event(), []
    real = simulation.simulated

    def slow(setting: Setting, runs: int) -> Simulated:
        computed.append(setting.users)
        started.set()
        finish.wait(HANG)
        return real(setting, runs)

    monkeypatch.setattr(simulation, "simulated", slow)
    wanted = live.service.planner._wanted
    clients = [_asking(live, users) for users in (10_001, 10_002, 10_003, 10_004)]
    assert started.wait(HANG)
    _until(lambda: wanted.total() == 4)
    with live.http(live.token) as http:
        answer = http.get("/v1/operator/plan", params=PLAN)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "2")
        for client in clients:
            client.close()
        _until(lambda: not wanted)
        finish.set()
        assert http.get("/v1/operator/plan", params={**PLAN, "users": 10_005}).status_code == 200
    assert len(computed) == 2
    assert computed[-1] == 10_005


def test_a_client_that_is_refused_has_not_hung_up() -> None:
    async def refused() -> None:
        raise ProblemError(429, "busy", "too many concurrent requests")

    with pytest.raises(ProblemError, match="too many"):
        asyncio.run(unless_gone(SimpleNamespace(receive=refused), asyncio.sleep(HANG)))


def _asking(live: Live, users: int) -> socket.socket:
    """A client that has asked for a plan, and can hang up."""
    place = urlsplit(live.url)
    client = socket.create_connection((place.hostname, place.port))
    path = f"/v1/operator/plan?{urlencode({**PLAN, 'users': users})}"
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {live.token}\r\n\r\n".encode())
    return client


def _until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + HANG
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("shape", ["/etc/passwd", "zipf:1e9", "blender-demo", ""])
def test_a_plan_reads_no_files(live: Live, shape: str) -> None:
    with live.http(live.token) as http:
        answer = http.get("/v1/operator/plan", params={**PLAN, "shape": shape})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == "query.shape"


@pytest.mark.parametrize(("most", "left"), [(11, 2), (12, 3), (Fraction(119, 10), 2), (3, 0), (40_000, 1000), (None, None)])
def test_rounds_left_are_those_that_fit(most: Fraction | int | None, left: int | None) -> None:
    limit = None if most is None else Fraction(most)
    budget = Budget("client", "max_epsilon", (), Loss(Fraction(4), Fraction(0)), limit)
    assert budget.rounds_left(1000) == left


def test_counting_is_repeated_when_it_has_become_cheap() -> None:
    now, counted = [0.0], []

    def count(name: str) -> int:
        counted.append(name)
        now[0] += 0.5
        return len(counted)

    counts = ReportCount(count, lambda: now[0])
    assert [counts.of("a"), counts.of("a")] == [1, 1]
    now[0] = 24.9  # a count of half a second may be repeated after 25 seconds
    assert counts.of("a") == 1
    now[0] = 25.1
    assert counts.of("a") == 2
