"""The page at `/`: for a browser, self-contained, without script, and without any count."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from blender_dp.collector.http import home_page
from blender_dp.collector.http.home_page import _page, _Shown
from tests.collector_http.conftest import listening

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]


def test_a_browser_gets_a_page(ready) -> None:
    live, done = ready
    with live.http() as http:
        answer = http.get("/", headers=HTML)
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert live.service.signer.public in answer.text
        assert "searches" in answer.text
        assert f"/v1/releases/{done['release']}" in answer.text
        tags = Tags(answer.text)
        assert {"script", "img", "link", "form", "iframe"}.isdisjoint(tags.names)
        assert {"href", "charset", "name", "content", "lang", "class"} == tags.attributes
        for link in tags.links:
            assert link.startswith("/"), link
            assert http.get(link).status_code == 200, link
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    style = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)[0]
    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in policy
    assert "unsafe" not in policy


def test_a_program_gets_json(ready) -> None:
    live, _ = ready
    with live.http() as http:
        for accept in ("application/json", "*/*"):
            answer = http.get("/", headers={"Accept": accept})
            assert answer.headers["content-type"] == "application/json"
            assert answer.headers["vary"] == "Accept"
            assert answer.json()["key"] == live.service.signer.public
            assert answer.json()["campaigns"] == [{"name": "searches", "round": 1, "state": "released"}]
        assert http.head("/").status_code == 200


def test_contributions_do_not_change_it(tmp_path: Path) -> None:
    """Nobody can count opt-in users or reports as they arrive."""
    with listening(tmp_path / "data") as live, live.http() as http:

        def page() -> str:
            live.service.recent.forget()
            return http.get("/", headers=HTML).raise_for_status().text

        campaign, listed = live.campaign(), live.listed(live.campaign(name="other"))
        round_id, tokens = live.opened(campaign), live.enrolled(campaign, 5)
        before = page()
        assert "opt-in users contribute records" in before
        assert "clients report" in before
        for token in tokens:
            live.upload(round_id, token, "q", "https://q.example/")
        assert page() == before
        answer = http.post(f"/v1/rounds/{listed['id']}/reports", json={"reports": live.messages(listed, 5)})
        assert answer.json() == {"refused": []}
        assert page() == before


def test_it_is_rendered_once_for_many_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking up the versions takes as long as ten other requests, and anyone may request the page."""
    looked_up: list[None] = []
    monkeypatch.setattr(home_page, "package_versions", lambda: looked_up.append(None) or {"blender-dp": "0"})
    with listening(tmp_path / "data") as live, live.http() as http:
        live.service.recent._seconds = 3600.0
        assert {http.get("/", headers=headers).status_code for headers in [{}, HTML] * 5} == {200}
    assert len(looked_up) == 1


def test_everything_is_escaped() -> None:
    bad = '<b>"&'
    page = _page(bad, [_Shown(bad, bad, bad, 1, "listed", bad, bad)])
    assert "<b>" not in page
    assert bad not in page
