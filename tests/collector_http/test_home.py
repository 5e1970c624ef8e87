"""The page at `/`: the dashboard for a browser, a summary without any count for programs."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from blender_dp.collector.http import home_page
from blender_dp.collector.http.dashboard_files import FOLDER
from tests.collector_http.conftest import listening

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
BUDGET = 150_000


def test_a_browser_gets_the_dashboard(ready) -> None:
    live, _ = ready
    with live.http() as http:
        answer = http.get("/", headers=HTML)
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        links = re.findall(r'(?:href|src)="(/dashboard/[^"]+)"', answer.text)
        assert sorted(Path(link).suffix for link in links) == [".css", ".js"]
        for link in links:
            asset = http.get(link)
            assert asset.status_code == 200
            assert "immutable" in asset.headers["cache-control"]
            assert asset.content == (FOLDER / Path(link).name).read_bytes()


def test_only_its_own_files_run_in_it(ready) -> None:
    live, _ = ready
    with live.http() as http:
        answer = http.get("/", headers=HTML)
    assert re.findall(r"<(script|style)[^>]*>[^<]", answer.text) == []
    assert not re.search(r"""\son\w+=|style=|(?<!xmlns=')https?://""", answer.text)
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self' data:",
        "connect-src": "'self'", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
    }  # fmt: skip
    assert "set-cookie" not in answer.headers


def test_the_first_load_is_small() -> None:
    """Everything that a browser loads before it shows the first page."""
    assert sum(len(gzip.compress(path.read_bytes())) for path in FOLDER.iterdir()) < BUDGET


def test_there_are_no_other_files(ready) -> None:
    live, _ = ready
    with live.http() as http:
        for name in ("index.html", "nothing.js", "..%2Fapp.py", "%2e%2e/app.py"):
            assert http.get(f"/dashboard/{name}").status_code == 404, name


def test_a_program_gets_json(ready) -> None:
    live, _ = ready
    with live.http() as http:
        for accept in ("application/json", "*/*"):
            answer = http.get("/", headers={"Accept": accept})
            assert answer.headers["content-type"] == "application/json"
            assert "Accept" in answer.headers["vary"]
            assert answer.json()["key"] == live.service.signer.public
            assert answer.json()["campaigns"] == [{"name": "searches", "round": 1, "state": "released"}]
        assert http.head("/").status_code == 200


def test_contributions_do_not_change_it(tmp_path: Path) -> None:
    """Nobody can count opt-in users or reports as they arrive."""
    with listening(tmp_path / "data") as live, live.http() as http:
        campaign, listed = live.campaign(), live.listed(live.campaign(name="other"))
        round_id, tokens = live.opened(campaign), live.enrolled(campaign, 5)
        paths = ["/", "/v1/campaigns", "/v1/campaigns/other/rounds", f"/v1/campaigns/{campaign}/rounds"]

        def pages() -> list[str]:
            live.service.recent.forget()
            return [http.get(path).raise_for_status().text for path in paths]

        before = pages()
        for token in tokens:
            live.upload(round_id, token, "q", "https://q.example/")
        assert pages() == before
        answer = http.post(f"/v1/rounds/{listed['id']}/reports", json={"reports": live.messages(listed, 5)})
        assert answer.json() == {"refused": []}
        assert pages() == before


def test_it_is_rendered_once_for_many_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking up the versions takes as long as ten other requests, and anyone may request the page."""
    looked_up: list[None] = []
    monkeypatch.setattr(home_page, "package_versions", lambda: looked_up.append(None) or {"blender-dp": "0"})
    with listening(tmp_path / "data") as live, live.http() as http:
        live.service.recent._seconds = 3600.0
        assert {http.get("/", headers=headers).status_code for headers in [{}, HTML] * 5} == {200}
    assert len(looked_up) == 1
