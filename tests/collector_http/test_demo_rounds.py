"""The live demonstration goes on, whatever a campaign's budget allows and whatever its operator does."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blender_dp.cli import demo_live
from blender_dp.cli.operate import client
from tests.collector_http.conftest import listening


@pytest.mark.slow
def test_it_goes_on_when_a_round_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one_round = replace(demo_live._CAMPAIGNS[1], max_epsilon="1")
    monkeypatch.setattr(demo_live, "_CAMPAIGNS", [one_round])
    with listening(tmp_path / "data") as live:
        live.operator("POST", "/v1/operator/campaigns", json=one_round.settings(5000))

        def events(last: int) -> list[dict[str, Any]]:
            said: list[dict[str, Any]] = []
            monkeypatch.setattr(demo_live._Announcer, "__call__", lambda _, facts, __: said.append(facts))
            options = {"users": 5000, "first": 9, "every": 0, "attackers": 5, "seed": 1}
            with closing(client(live.url, live.token)) as operator, closing(client(live.url)) as devices:
                demo_live._rounds(operator, devices, demo_live._Announcer(as_json=True), last=last, **options)
            return said

        own = live.opened("strict")
        assert "the current one is open" in events(1)[0]["refused"]
        live.operator("POST", f"/v1/operator/rounds/{own}/abort", json={"reason": "a test"})
        first, second, third = events(3)
        assert first["stuffed"] == 5
        assert "its budget is used up" in second["refused"]
        assert "its budget is used up" in third["refused"]
        assert live.operator("GET", "/v1/operator/campaigns/strict/rounds/current")["state"] == "released"
