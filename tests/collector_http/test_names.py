"""Campaigns are accepted by name and by id everywhere; and all rounds can be listed."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tests.collector_http.conftest import CAMPAIGN

UNKNOWN = ("nobody-has-this-name", "0" * 32)


@pytest.fixture
def http(live):
    with live.http(live.token) as one:
        yield one


def test_every_path_accepts_a_name_or_an_id(live, http):
    campaign = live.campaign(name="searches")
    path = "/v1/operator/campaigns"
    assert len(http.post(f"{path}/searches/enrolments", json={"count": 2}).json()["tokens"]) == 2
    opened = http.post(f"{path}/searches/rounds", json={}).json()
    assert opened["campaign"] == campaign
    shown = [http.get(f"{path}/{name}/rounds/current").json() for name in ("searches", campaign)]
    assert shown == [opened, opened]
    for name in UNKNOWN:
        for method, end in (("POST", "enrolments"), ("POST", "rounds"), ("GET", "rounds/current")):
            answer = http.request(method, f"{path}/{name}/{end}", json={} if method == "POST" else None)
            assert (answer.status_code, answer.json()["type"]) == (404, "urn:blender-dp:problem:missing")
    assert http.get(f"{path}/Searches/rounds/current").status_code == 422


def test_a_key_is_used_once_by_name_and_by_id(live, http):
    campaign = live.campaign(name="searches")
    for end, body in (("rounds", {}), ("enrolments", {"count": 2})):
        made = [
            http.post(f"/v1/operator/campaigns/{name}/{end}", json=body, headers={"Idempotency-Key": "k"}).json()
            for name in ("searches", campaign)
        ]
        assert made[0] == made[1]


def test_a_name_that_looks_like_an_id_is_refused(http):
    answer = http.post("/v1/operator/campaigns", json={**CAMPAIGN, "name": "c0ffee" * 5 + "00"})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["where"] == "body.name"
    assert error["why"] == "looks like a campaign's id (32 hexadecimal digits): choose another name"
    assert http.post("/v1/operator/campaigns", json={**CAMPAIGN, "name": "c0ffee" * 5 + "0g"}).status_code == 201


def test_a_name_is_looked_up_without_reading_the_settings(live, monkeypatch):
    """Every device requests its campaign: one lookup in an index, without reading the settings."""
    live.opened(live.campaign(name="searches"))
    statements: list[str] = []
    sa.event.listen(
        live.service.rounds.store.engine, "before_cursor_execute", lambda *given: statements.append(given[2].lower())
    )
    with live.http() as http:
        assert http.get("/v1/rounds/current", params={"campaign": "searches"}).is_success
    asked = [one for one in statements if "from campaigns" in one]
    assert asked
    assert not any("settings" in one for one in asked)


def test_rounds_are_listed(live, http):
    first, second = live.campaign(name="first"), live.campaign(name="second")
    made = []
    for campaign in (first, second, first, second, first):
        made.insert(0, (live.opened(campaign), campaign))
        live.operator("POST", f"/v1/operator/rounds/{made[0][0]}/abort", json={"reason": "over"})
    last = live.opened(first, lists_at=2_000_000_000, closes_at=2_000_086_400)
    made.insert(0, (last, first))
    listed = http.get("/v1/operator/rounds").json()
    assert [(one["id"], one["campaign"]) for one in listed] == made
    assert listed[0] | {"opened": 0} == {
        **http.get(f"/v1/operator/rounds/{last}").json(), "campaign_name": "first", "opened": 0,
    }  # fmt: skip
    assert listed[0]["opened"] % 3600 == 0
    assert [one["state"] for one in listed] == ["open", *["aborted"] * 5]
    for name in ("second", second):
        some = http.get("/v1/operator/rounds", params={"campaign": name}).json()
        assert [one["id"] for one in some] == [name for name, campaign in made if campaign == second]
    pages, before = [], None
    while page := http.get("/v1/operator/rounds", params={"limit": 4} | ({"before": before} if before else {})).json():
        pages.append(page)
        before = page[-1]["id"]
    assert [len(page) for page in pages] == [4, 2]
    assert [one for page in pages for one in page] == listed
    for bad in ({"limit": 0}, {"limit": 1001}, {"before": "searches"}, {"campaign": ""}):
        assert http.get("/v1/operator/rounds", params=bad).status_code == 422
    for missing in ({"before": "0" * 32}, {"campaign": "third"}):
        assert http.get("/v1/operator/rounds", params=missing).status_code == 404
