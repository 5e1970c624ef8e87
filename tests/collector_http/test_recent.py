"""Responses that are cached for a moment: fast, and never older than promised."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.http.response_cache import ResponseCache
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.storage.store import Store
from tests.collector_http.conftest import listening


def test_those_who_poll_read_nothing_from_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of a campaign are not validated again, and the database is seldom read."""
    with listening(tmp_path / "data") as live, live.http() as http:
        campaign = live.campaign()
        live.opened(campaign)
        asked = []
        real = Store.read
        monkeypatch.setattr(Store, "read", lambda store: asked.append(threading.current_thread()) or real(store))
        monkeypatch.setattr(CampaignSettings, "model_validate_json", None)
        monkeypatch.setattr(live.service.recent, "_seconds", 3600.0)
        for path, most in (("/v1/rounds/current", 2), ("/v1/search", 1), ("/v1/campaigns", 1), ("/v1/ledger", 1), ("/", 3)):
            before = len([one for one in asked if one.name != "worker"])
            for _ in range(20):
                assert http.get(path, params={"campaign": campaign, "q": "q"}).status_code == 200
            assert len([one for one in asked if one.name != "worker"]) - before <= most


def test_changes_by_this_process_are_visible_at_once(live) -> None:
    live.service.recent._seconds = 3600.0
    campaign = live.campaign()
    with live.http() as http:
        for number in (1, 2, 3):
            round_id = live.opened(campaign)
            for params in ({}, {"campaign": campaign}):
                shown = http.get("/v1/rounds/current", params=params).json()["round"]
                assert (shown["id"], shown["number"], shown["state"]) == (round_id, number, "open")
            live.operator("POST", f"/v1/operator/rounds/{round_id}/abort", json={"reason": "enough"})
            assert http.get("/v1/rounds/current").json()["round"]["state"] == "aborted"


def test_changes_by_another_process_are_visible_soon(live) -> None:
    round_id = live.opened(live.campaign())
    settings = live.service.settings
    store = Store.open(settings.database_url)
    other = Rounds(store, KeyFolder(settings.key_folder), live.service.signer)
    with live.http() as http:
        assert http.get("/v1/rounds/current").json()["round"]["state"] == "open"
        other.lifecycle.abort(round_id, "enough")
        time.sleep(1.5)  # not derived from the setting: a longer cache time must not lengthen the wait
        assert http.get("/v1/rounds/current").json()["round"]["state"] == "aborted"
    store.close()


def test_concurrent_requests_share_one_response() -> None:
    made = []

    def make(name: str) -> str:
        time.sleep(0.05)
        made.append(name)
        return name

    async def ask() -> None:
        recent = ResponseCache(3600)
        assert await asyncio.gather(*(recent.get(make, name) for name in "aabab")) == [*"aabab"]
        assert sorted(made) == ["a", "b"]
        assert await recent.get(make, "a") == "a"
        recent.forget()
        assert await recent.get(make, "a") == "a"
        assert sorted(made) == ["a", "a", "b"]

    asyncio.run(ask())


def test_a_response_from_before_a_change_is_not_shown_after_it() -> None:
    state, started = ["old"], threading.Event()

    def make() -> str:
        found = state[0]
        started.set()
        time.sleep(0.1)
        return found

    async def ask() -> None:
        recent = ResponseCache(3600)
        asked = asyncio.ensure_future(recent.get(make))
        await asyncio.to_thread(started.wait)
        state[0] = "new"
        recent.forget()
        assert await recent.get(make) == "new"
        assert await asked == "new"

    asyncio.run(ask())


def test_failures_are_not_cached_and_memory_is_bounded() -> None:
    def make(number: int) -> float:
        return 1 / number

    async def ask() -> None:
        recent = ResponseCache(3600, most=10)
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                await recent.get(make, 0)
        for number in range(1, 100):
            await recent.get(make, number)
        assert len(recent._cached) <= 10

    asyncio.run(ask())
