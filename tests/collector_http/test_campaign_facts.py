"""What readers and reviewers see of a campaign: rounds, changes, promise, audit and files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from blender_dp.collector.http.round_history import history_shown
from blender_dp.collector.rounds.lookup import History
from blender_dp.release import Release
from tests.collector_http.conftest import Live, listening

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Live, httpx.Client, str]]:
    """A collector with a campaign of two releases and an aborted round, and another one without any round."""
    with listening(tmp_path_factory.mktemp("data")) as live:
        campaign = live.campaign()
        live.campaign(name="quiet")
        live.released(campaign)
        live.released(campaign, reports=600)
        aborted = live.opened(campaign)
        live.operator("POST", f"/v1/operator/rounds/{aborted}/abort", json={"reason": "a test"})
        live.service.rounds.retention.delete_reports()
        with live.http() as http:
            yield live, http, campaign


def _get(http: httpx.Client, path: str) -> Any:
    answer = http.get(path)
    assert answer.status_code == 200, answer.text
    assert "public" in answer.headers["cache-control"]
    return answer.json()


def _releases(http: httpx.Client, campaign: str) -> list[Release]:
    rounds = [one["round"] for one in _get(http, f"/v1/campaigns/{campaign}/rounds") if one["round"]["release"]]
    bodies = [http.get(f"/v1/releases/{one['release']}").json() for one in rounds]
    return [Release.from_document(body["content"]["release"]) for body in bodies]


def test_rounds_say_what_happened_and_what_was_destroyed(reader: tuple[Live, httpx.Client, str]) -> None:
    _, http, campaign = reader
    aborted, last, first = _get(http, f"/v1/campaigns/{campaign}/rounds")
    assert [one["round"]["number"] for one in (aborted, last, first)] == [3, 2, 1]
    assert [one["event"] for one in last["events"]] == ["open", "freeze", "list", "close", "release"]
    assert [one["state"] for one in aborted["events"]] == ["open", "aborted"]
    assert aborted["round"]["problem"] == "a test"
    assert all(one["at"] % 3600 == 0 for one in last["events"])
    (raw,) = last["destroyed"]
    assert raw["what"].startswith("raw records")
    assert raw["at"] == last["events"][2]["at"]
    assert [one["what"] for one in aborted["destroyed"]] == ["raw records, withdrawals and their key"]


def test_the_end_of_a_deletion_shows_days_later(reader: tuple[Live, httpx.Client, str]) -> None:
    """How long it took would reveal how many reports an aborted round had."""
    live, _, campaign = reader
    one = live.service.rounds.lookup.history(campaign, None, 2)[1]
    released = one.events[-1].at

    def destroyed(history: History, days: float) -> list[str]:
        return [part.what for part in history_shown(history, released + 86_400 * days).destroyed]

    raw = ["raw records, withdrawals, their key and the noise secret"]
    assert destroyed(one, 1.9) == raw
    assert destroyed(one, 2.1) == [*raw, "reports"]
    assert destroyed(replace(one, has_reports=True), 2.1) == raw


def test_pages_of_rounds(reader: tuple[Live, httpx.Client, str]) -> None:
    _, http, campaign = reader
    newest = _get(http, f"/v1/campaigns/{campaign}/rounds")[0]
    rest = _get(http, f"/v1/campaigns/{campaign}/rounds?before={newest['round']['id']}")
    assert [one["round"]["number"] for one in rest] == [2, 1]


def test_changes_are_those_of_compare(reader: tuple[Live, httpx.Client, str]) -> None:
    _, http, campaign = reader
    new, old = _releases(http, campaign)
    shown = _get(http, f"/v1/campaigns/{campaign}/changes")
    expected = old.compare(new).changes
    assert [one["number"] for one in shown["rounds"]] == [1, 2]
    assert [(one["query"], one["kind"], one["difference"]) for one in shown["changes"]] == [
        (one.query, one.kind, one.difference) for one in expected
    ]
    assert _get(http, "/v1/campaigns/quiet/changes") == {"rounds": [], "false_discovery_rate": 0.05, "changes": None}


def test_the_promise_has_words_odds_and_exact_numbers(reader: tuple[Live, httpx.Client, str]) -> None:
    _, http, campaign = reader
    promise = _get(http, f"/v1/campaigns/{campaign}/promise")
    opt_in, client = promise["groups"]
    assert (opt_in["epsilon"], opt_in["delta"], client["epsilon"], client["delta"]) == ("4", "1/1000000", "4", "0")
    assert "at most a factor of 54.6" in client["meaning"]
    assert client["posterior"] == pytest.approx(0.01 * 54.598 / (0.01 * 54.598 + 0.99), rel=5e-3)
    assert opt_in["failure_probability"] == "1e-06"
    assert promise["parameters"]["delta"] == "1/1000000"
    assert promise["parameters"]["max_queries"] == "5"
    assert promise["warnings"] == []


def test_the_audit_is_that_of_the_newest_list(reader: tuple[Live, httpx.Client, str]) -> None:
    _, http, campaign = reader
    audit = _get(http, f"/v1/campaigns/{campaign}/audit")
    newest = _get(http, f"/v1/rounds/current?campaign={campaign}")["released"]
    assert audit["head_list"] == newest["head_list"]
    assert [one["verdict"] for one in audit["findings"]] == ["holds"] * 3
    local = audit["findings"][-1]
    assert 3.9 < local["worst_epsilon"] <= 4 == int(local["claimed_epsilon"])
    without = _get(http, "/v1/campaigns/quiet/audit")
    assert without["head_list"] is None
    assert {one["verdict"] for one in without["findings"]} == {"holds"}


def test_releases_as_files(reader: tuple[Live, httpx.Client, str]) -> None:
    _, http, campaign = reader
    release = _releases(http, campaign)[0]
    digest = _get(http, f"/v1/rounds/current?campaign={campaign}")["released"]["release"]
    names = "release.json", "estimates.csv", "estimates.parquet"
    files = {name: http.get(f"/v1/releases/{digest}/files/{name}") for name in names}
    for name, answer in files.items():
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
        assert "immutable" in answer.headers["cache-control"]
        known = http.get(f"/v1/releases/{digest}/files/{name}", headers={"If-None-Match": answer.headers["etag"]})
        assert (known.status_code, known.content) == (304, b"")
    assert Release.from_document(json.loads(files["release.json"].content)) == release
    assert pq.read_table(io.BytesIO(files["estimates.parquet"].content)).equals(release.to_arrow())
    rows = list(csv.DictReader(io.StringIO(files["estimates.csv"].text)))
    assert [float(row["share"]) for row in rows] == pytest.approx(release.to_arrow()["share"].to_pylist())


@pytest.mark.parametrize("path", ["rounds", "changes", "promise", "audit"])
def test_an_unknown_campaign_is_not_found(reader: tuple[Live, httpx.Client, str], path: str) -> None:
    _, http, _ = reader
    assert http.get(f"/v1/campaigns/nobody/{path}").status_code == 404


def test_an_unknown_file_or_release_is_refused(reader: tuple[Live, httpx.Client, str]) -> None:
    _, http, _ = reader
    assert http.get(f"/v1/releases/{'0' * 64}/files/estimates.csv").status_code == 404
    assert http.get(f"/v1/releases/{'0' * 64}/files/passwd").status_code == 422


def test_a_file_is_computed_once(reader: tuple[Live, httpx.Client, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A long release takes seconds, and anyone may request it."""
    live, http, campaign = reader
    digest = _get(http, f"/v1/rounds/current?campaign={campaign}")["released"]["release"]
    live.service.facts._files.forget()
    computed: list[str] = []
    original = live.service.facts.release
    monkeypatch.setattr(live.service.facts, "release", lambda one: computed.append(one) or original(one))
    with ThreadPoolExecutor(8) as pool:
        bodies = set(pool.map(lambda _: http.get(f"/v1/releases/{digest}/files/estimates.csv").content, range(24)))
    assert (len(bodies), len(computed)) == (1, 1)
