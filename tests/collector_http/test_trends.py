"""Trends over the releases of a live campaign: the route, and blender-dp trends URL."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import pytest
from typer.testing import CliRunner

from blender_dp import Release
from blender_dp.cli import release_series
from blender_dp.cli.app import app
from blender_dp.errors import BlenderError
from blender_dp.release import trends_over
from tests.collector_http.checks import is_problem
from tests.collector_http.conftest import Live, listening


@pytest.fixture(scope="module")
def campaign(tmp_path_factory, database) -> Iterator[tuple[Live, str, list[dict[str, object]]]]:
    """A collector with two released rounds."""
    with listening(tmp_path_factory.mktemp("trends") / "data", database=database()) as live:
        name = live.campaign()
        yield live, name, [live.released(name), live.released(name)]


def released(live: Live, done: dict[str, object]) -> Release:
    with live.http() as http:
        return Release.from_document(http.get(f"/v1/releases/{done['release']}").json()["content"]["release"])


def test_the_route_has_the_rounds_and_the_smoothed_series(campaign):
    live, name, rounds = campaign
    with live.http() as http:
        answer = http.get(f"/v1/campaigns/{name}/trends", params={"n": 3})
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.json()["rounds"] == [{"number": i, "release": one["release"]} for i, one in enumerate(rounds, 1)]
    expected = trends_over([released(live, one) for one in rounds]).series[:3]
    assert answer.json()["series"] == json.loads(json.dumps([asdict(one) for one in expected]))
    assert len(expected[0].points) == 2


class Computing:
    """Notes how often the trends are computed, and how many computations ever run at once."""

    def __init__(self, live: Live, monkeypatch) -> None:
        self.calls = self.now = self.most = 0
        self._usual = live.service.trends._computed
        monkeypatch.setattr(live.service.trends, "_computed", self)
        live.service.recent.forget()

    def __call__(self, numbered):
        self.calls, self.now = self.calls + 1, self.now + 1
        self.most = max(self.most, self.now)
        time.sleep(0.2)  # the others arrive
        self.now -= 1
        return self._usual(numbered)


def requested(live: Live, *names: str) -> list[int]:
    """The status of concurrent requests."""
    with ThreadPoolExecutor(len(names)) as pool, live.http() as http:
        return [one.status_code for one in pool.map(lambda name: http.get(f"/v1/campaigns/{name}/trends"), names)]


def test_the_series_are_computed_once(campaign, monkeypatch):
    live, name, _ = campaign
    computing = Computing(live, monkeypatch)
    assert requested(live, name, "searches", name, "searches") == [200] * 4
    with live.http() as http:
        for n in (1, 2, 3):
            live.service.recent.forget()
            assert len(http.get(f"/v1/campaigns/{name}/trends", params={"n": n}).json()["series"]) == n
    assert computing.calls == 1


def test_one_campaign_is_computed_at_a_time_and_nothing_else_waits_for_it(campaign, monkeypatch):
    """Otherwise requests for many campaigns would occupy all threads, and all cores."""
    live, name, _ = campaign
    other = live.campaign(name="other")
    computing = Computing(live, monkeypatch)
    assert requested(live, name, other) == [200, 200]
    assert (computing.calls, computing.most) == (2, 1)


def test_an_unknown_campaign_is_missing_and_a_new_one_is_empty(campaign):
    live, _, _ = campaign
    new = live.campaign(name="new")
    with live.http() as http:
        assert http.get(f"/v1/campaigns/{new}/trends").json() == {"rounds": [], "series": []}
        assert is_problem(http.get(f"/v1/campaigns/{'0' * 32}/trends"), 404, "missing")
        assert is_problem(http.get(f"/v1/campaigns/{new}/trends", params={"n": 0}), 422, "invalid")


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["trends", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_command_fetches_verifies_and_smooths_the_releases(campaign):
    live, name, rounds = campaign
    printed = json.loads(run(live.url, "--campaign", name, "--json", "-n", "2"))
    assert printed["releases"] == ["round 1", "round 2"]
    assert (printed["key"], printed["key_is_pinned"]) == (live.service.signer.public, False)
    expected = trends_over([released(live, one) for one in rounds]).series[:2]
    assert printed["series"] == json.loads(json.dumps([asdict(one) for one in expected]))


def test_a_pinned_key_must_have_signed_every_release(campaign):
    live, name, _ = campaign
    key = live.service.signer.public
    assert json.loads(run(live.url, "--campaign", name, "--key", key, "--json"))["key_is_pinned"]
    with pytest.raises(BlenderError, match="not signed by the pinned key"):
        run(live.url, "--campaign", name, "--key", base64.b64encode(bytes(32)).decode())
    with pytest.raises(BlenderError, match="key: is not an Ed25519 key"):
        run(live.url, "--campaign", name, "--key", key[:-4])


def test_the_command_says_where_the_key_comes_from(campaign):
    live, name, _ = campaign
    key, options = live.service.signer.public, ["trends", live.url, "--campaign", name]
    taken, pinned = (CliRunner().invoke(app, [*options, *more]).stderr for more in ([], ["--key", key]))
    assert "the key was taken from the collector itself" in " ".join(taken.split())
    assert f"--key {key}" in " ".join(taken.split())
    assert "signed by the key that you passed" in " ".join(pinned.split())


def test_the_command_refuses_a_release_that_another_key_signed_or_another_round_made(campaign, monkeypatch):
    live, name, _ = campaign
    usual = release_series.client

    def tampered(change):
        def client(url):
            collector = usual(url)
            document = collector.document
            monkeypatch.setattr(collector, "document", lambda path: change(document, path))
            return collector

        monkeypatch.setattr(release_series, "client", client)

    tampered(lambda document, path: document(path).replace(b'"round":1', b'"round":3'))
    with pytest.raises(BlenderError, match="not signed by the pinned key"):
        run(live.url, "--campaign", name)
    first: list[bytes] = []
    tampered(lambda document, path: first[0] if first else first.append(document(path)) or first[0])
    with pytest.raises(BlenderError, match="not the one that was requested"):
        run(live.url, "--campaign", name)


@pytest.mark.parametrize(
    ("path", "response"),
    [
        ("/v1/campaigns", None),
        ("/v1/campaigns", {"0": 1}),
        ("/v1/campaigns", [{"id": 3}]),
        ("/v1/campaigns", ["searches"]),
        ("/v1/rounds/current", {"key": "\ud800"}),
        ("/v1/rounds/current", [1]),
        ("/trends", {"rounds": [7]}),
        ("/trends", {"rounds": None}),
        ("/trends", {"rounds": [{"release": "x", "number": 1}] * 53}),
    ],
)
def test_a_collector_that_responds_with_something_else_is_refused(campaign, monkeypatch, path, response):
    live, name, _ = campaign
    usual = release_series.client

    def client(url):
        collector = usual(url)
        get = collector.get
        monkeypatch.setattr(collector, "get", lambda at, **query: response if at.endswith(path) else get(at, **query))
        return collector

    monkeypatch.setattr(release_series, "client", client)
    with pytest.raises(BlenderError, match="collector"):
        run(live.url, "--campaign", name)


def test_the_command_needs_a_campaign_if_there_are_several(campaign):
    live, _, _ = campaign
    live.campaign(name="several")
    with pytest.raises(BlenderError, match="Choose one with --campaign"):
        run(live.url)
