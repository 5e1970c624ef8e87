"""Work that is requested twice with one Idempotency-Key is done once."""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.http import operator_routes as operator
from blender_dp.collector.rounds.campaigns import Campaigns
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets import vault
from blender_dp.collector.storage.schema import answers, campaigns, rounds, tokens
from blender_dp.collector.storage.store import Store
from tests.collector_http.conftest import CAMPAIGN

PATH = "/v1/operator/campaigns"


@pytest.fixture
def http(live):
    with live.http(live.token) as one:
        yield one


def count(live, table) -> int:
    with live.service.rounds.store.read() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(table))


def test_a_repeated_request_gets_the_same_response(live, http):
    first, again = (http.post(PATH, json=CAMPAIGN, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert (again.status_code, again.content) == (first.status_code, first.content) == (201, first.content)
    assert count(live, campaigns) == 1
    path = f"{PATH}/{first.json()['id']}/rounds"
    opened = [http.post(path, json={}, headers={"Idempotency-Key": "k"}) for _ in range(2)]  # another path, another key
    assert opened[0].content == opened[1].content
    assert opened[0].status_code == 201
    assert count(live, rounds) == 1


def test_another_body_is_refused(http):
    http.post(PATH, json=CAMPAIGN, headers={"Idempotency-Key": "k"})
    answer = http.post(PATH, json={**CAMPAIGN, "name": "other"}, headers={"Idempotency-Key": "k"})
    assert answer.status_code == 422
    assert answer.json()["type"] == "urn:blender-dp:problem:key-reused"


def test_an_empty_key_is_refused(live, http):
    answer = http.post(PATH, json=CAMPAIGN, headers={"Idempotency-Key": ""})
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "header.Idempotency-Key")
    assert count(live, campaigns) == 0


def test_a_failed_request_can_be_repeated(live, http):
    http.post(PATH, json=CAMPAIGN)
    assert http.post(PATH, json=CAMPAIGN, headers={"Idempotency-Key": "k"}).status_code == 409
    assert count(live, answers) == 0


def test_a_crash_in_between_leaves_nothing(live, http, monkeypatch):
    """If the response is not stored, neither is the work."""

    def failing(_: object) -> bytes:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(operator, "to_json", failing)
        assert http.post(PATH, json=CAMPAIGN, headers={"Idempotency-Key": "k"}).status_code == 500
    assert (count(live, campaigns), count(live, answers)) == (0, 0)
    assert http.post(PATH, json=CAMPAIGN, headers={"Idempotency-Key": "k"}).status_code == 201
    assert (count(live, campaigns), count(live, answers)) == (1, 1)


def test_a_repeated_request_during_the_first_one(live, http, monkeypatch):
    started, go_on = threading.Event(), threading.Event()
    create = Campaigns.create

    def slow(self, settings):
        started.set()
        go_on.wait(120)
        return create(self, settings)

    monkeypatch.setattr(Campaigns, "create", slow)
    found = []

    def first():
        with live.http(live.token) as other:
            found.append(other.post(PATH, json=CAMPAIGN, headers={"Idempotency-Key": "k"}))

    thread = threading.Thread(target=first)
    thread.start()
    assert started.wait(120)
    second = http.post(PATH, json=CAMPAIGN, headers={"Idempotency-Key": "k"})
    go_on.set()
    thread.join()
    assert (second.status_code, second.json()["type"]) == (409, "urn:blender-dp:problem:in-flight")
    assert second.headers["retry-after"] == "1"
    assert http.post(PATH, json=CAMPAIGN, headers={"Idempotency-Key": "k"}).content == found[0].content


def test_two_concurrent_processes(live, http):
    """Another process does not know what is in flight here; the database does."""
    ours = live.service.rounds
    found = []

    def work(made: Rounds):
        return made.campaigns.create(CampaignSettings(**CAMPAIGN))

    def process():
        store = Store.open(live.service.settings.database_url)
        other = Rounds(store, ours.keys, ours.signer)
        found.append(other.idempotency.once("a" * 64, "b" * 64, 201, work).body)
        store.close()

    threads = [threading.Thread(target=process) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert count(live, campaigns) == 1


def test_an_enrolment_belongs_to_its_operator(live, http):
    """The tokens are derived from the operator's: another operator's token would yield tokens that are not enrolled."""
    path = f"{PATH}/{live.campaign()}/enrolments"
    assert http.post(path, json={"count": 3}, headers={"Idempotency-Key": "k"}).status_code == 201
    row = {"digest": vault.token_digest("another"), "role": "operator", "campaign": None, "created": 0}
    with live.service.rounds.store.write("test") as connection:
        connection.execute(tokens.insert(), row)
    known = count(live, tokens)
    refused = http.post(path, json={"count": 3}, headers={"Idempotency-Key": "k", "Authorization": "Bearer another"})
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:blender-dp:problem:key-reused")
    assert count(live, tokens) == known


def test_a_repeated_enrolment_gets_the_same_tokens_which_are_not_stored(live, http):
    path = f"{PATH}/{live.campaign()}/enrolments"
    first, again = (http.post(path, json={"count": 3}, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.status_code, again.content) == (201, first.content)
    other = http.post(path, json={"count": 3}, headers={"Idempotency-Key": "other"}).json()["tokens"]
    made = first.json()["tokens"]
    assert len({*made, *other}) == 6
    assert http.post(path, json={"count": 4}, headers={"Idempotency-Key": "k"}).status_code == 422
    with live.service.rounds.store.read() as connection:
        enrolled = connection.scalars(sa.select(tokens.c.digest).where(tokens.c.role == "opt-in")).all()
        kept = connection.scalars(sa.select(answers.c.body)).all()
    assert len(enrolled) == 6
    assert not any(token in text for token in made for text in (*enrolled, *kept))
    elsewhere = f"{PATH}/{live.campaign(name='other')}/enrolments"  # another campaign has other users
    others = http.post(elsewhere, json={"count": 3}, headers={"Idempotency-Key": "k"})
    assert others.status_code == 201
    assert not {*others.json()["tokens"]} & {*made}
    round_id = live.opened(path.split("/")[-2])
    live.upload(round_id, made[0], "query", "https://a.example/")
