"""What the public sees of a round depends on no one's record, and does not count users as they arrive."""

from __future__ import annotations

import json
import re
import time

import httpx
import pytest

from blender_dp_device import Agent, CollectorClient
from blender_dp_device.wire.documents import verified_content
from tests.collector_http.conftest import RECORDS

UNUSABLE = [
    "", " ", "\x00", "\u2028", "joe@example.com", "555 123 4567", "x" * 2_048, "x" * 30_000, "ß" * 3_000, "\ud800", "'\"\\",
    "ﷺ" * 4_000, "\u0300\u0323" * 2_000,
]  # fmt: skip


def test_every_record_gets_the_same_response(live):
    campaign = live.campaign()
    round_id = live.opened(campaign)
    seen = set()
    with live.http() as http:
        for query, token in zip([*UNUSABLE, "query", None], live.enrolled(campaign, len(UNUSABLE) + 2), strict=True):
            for url in (None, "", "https://a.example/", query):
                body = json.dumps({"query": query} if url is None else {"query": query, "url": url}).encode()
                headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
                answer = http.post(f"/v1/rounds/{round_id}/records", content=body, headers=headers)
                seen.add((answer.status_code, len(answer.content), *sorted({*answer.headers} - {"date"})))
    assert {one[0] for one in seen} == {201}
    assert len(seen) == 1


@pytest.mark.parametrize("odd", ["joe@example.com", None, "x" * 5_000, "query 0"])
def test_the_manifest_counts_opt_in_users_whatever_their_records(live, tmp_path, odd):
    """119 users and one more, whose record does not change any count."""
    campaign = live.campaign()
    round_id = live.opened(campaign)
    *others, last = live.enrolled(campaign, 120)
    for i, token in enumerate(others):
        live.upload(round_id, token, *RECORDS[i % len(RECORDS)])
    collector = CollectorClient(live.url)
    pinned = {"epsilon": "4", "delta": "1e-6", "lifetime_epsilon": "40", "campaign": campaign}
    device = Agent(tmp_path / "device", collector, key=live.service.signer.public, **pinned)
    assert device.upload(last, odd, "https://site0.example/")
    live.operator("POST", f"/v1/operator/rounds/{round_id}/list")
    listed = live.reached(round_id, "listed")
    assert device.take_part(odd, "https://site0.example/") is None
    collector.close()
    with live.http() as http:
        http.post(f"/v1/rounds/{round_id}/reports", json={"reports": live.messages(listed, 200)})
        live.operator("POST", f"/v1/operator/rounds/{round_id}/close")
        body = http.get(f"/v1/releases/{live.reached(round_id, 'released')['release']}").content
    manifest = verified_content(body, "release", live.service.signer.public)["release"]["manifest"]
    assert [group["users"] for group in manifest["groups"]] == [120, 200]


def shown(live, campaign: str) -> httpx.Response:
    with live.http() as http:
        return http.get("/v1/rounds/current", params={"campaign": campaign})


def test_a_waiting_round_shows_user_counts_only_to_its_operator(live):
    campaign = live.campaign(min_opt_in=8)
    round_id, tokens = live.opened(campaign), live.enrolled(campaign, 7)
    assert shown(live, campaign).json()["round"]["problem"] is None
    seen = set()
    for users, token in enumerate(tokens, start=1):
        live.upload(round_id, token, *RECORDS[0])
        with live.http(live.token) as http:
            refused = http.post(f"/v1/operator/rounds/{round_id}/list")
            assert (refused.status_code, f": {users}," in refused.json()["detail"]) == (409, True)
            assert f": {users}," in http.get(f"/v1/operator/rounds/{round_id}").json()["problem"]
        seen.add(shown(live, campaign).text)
    (told,) = seen
    assert json.loads(told)["round"]["problem"] == "waiting"


def test_an_aborted_round_says_why(live):
    campaign = live.campaign()
    round_id = live.opened(campaign)
    live.operator("POST", f"/v1/operator/rounds/{round_id}/abort", json={"reason": "enough for today"})
    assert shown(live, campaign).json()["round"]["problem"] == "enough for today"


def test_a_stuck_round_shows_the_reason_only_to_its_operator(live):
    campaign = live.campaign()
    round_id = live.opened(campaign)
    rounds = live.service.rounds
    rounds.lifecycle.note_problem(rounds.lookup.round(round_id), "the folder /srv/keys does not exist")
    assert "/srv/keys" in live.operator("GET", f"/v1/operator/rounds/{round_id}")["problem"]
    assert shown(live, campaign).json()["round"]["problem"] == "waiting"


def test_published_times_are_full_hours_or_the_operators_plan(ready):
    """Times of users' and operators' actions are rounded to the hour; only planned times are exact."""
    live, done = ready
    bodies = {}
    with live.http() as http:
        for name, kind in (("openings", "opening"), ("head-lists", "head_list"), ("releases", "release")):
            bodies[kind] = http.get(f"/v1/{name}/{done[kind]}")
        pages = [shown(live, done["campaign"]), http.get("/v1/ledger"), *bodies.values()]
    now = time.time()
    for page in pages:
        assert "last-modified" not in page.headers
        times = [int(one) for one in re.findall(r"(?<![\w.])1[5-9]\d{8}(?![\w.])", page.text)]
        assert all(one % 3600 == 0 for one in times)
    for kind in ("opening", "head_list"):
        expires = bodies[kind].json()["content"]["expires"]
        assert expires % 3600 == 0
        assert now < expires < now + 31 * 86_400
