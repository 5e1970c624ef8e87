"""One report per round, charged before it leaves, and sent again with the same bytes."""

from __future__ import annotations

import json
import re

import pytest

from blender_dp.errors import StateError
from blender_dp_device.agent.agent import Agent
from blender_dp_device.records.head_list import HeadList
from tests.device.agent.fake_collector import PINNED, next_round
from tests.lists import reporting


def test_one_report_per_round_is_sent_and_accounted_for(agent, fake):
    device = agent()
    first = device.take_part("query 1", "https://site1.example/")
    assert first.arrived
    assert [agent().take_part("query 2", None), device.take_part("query 3", None)] == [first, first]
    assert len(fake.posted) == 1
    assert agent().sent == [first]
    assert agent().left == 4


def test_a_round_without_a_list(agent, fake):
    fake.state["state"] = "open"
    assert agent().take_part("query 1") is None
    fake.state = None
    assert agent().take_part("query 1") is None
    assert not fake.posted


def test_a_report_that_may_not_have_arrived_is_sent_again_unchanged(agent, fake):
    fake.lost = True
    for _ in range(3):
        with pytest.raises(StateError, match="does not respond"):
            agent().take_part("query 1", "https://site1.example/")
    assert agent().left == 4  # charged once
    fake.lost = False
    sent = agent().take_part("query 2", "https://site2.example/")  # even if the record is another one now
    assert sent.arrived
    assert len(fake.posted) == 4
    assert len(set(fake.posted)) == 1
    assert agent().left == 4


def test_a_crash_before_anything_is_sent(agent, fake, monkeypatch):
    """The account is on disk before the report leaves."""
    with monkeypatch.context() as patch:
        patch.setattr(Agent, "_deliver", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            agent().take_part("query 1")
    (charged,) = agent().sent
    assert not charged.arrived
    agent().take_part("query 1")
    assert fake.posted == [charged.body.encode()]


class TestEarlierRounds:
    """Reports that may not have arrived are sent again under their own round's id, and block nothing."""

    @pytest.fixture
    def undelivered(self, agent, fake) -> bytes:
        fake.lost = True
        with pytest.raises(StateError, match="does not respond"):
            agent().take_part("query 1")
        fake.lost = False
        next_round(fake, 2)
        return fake.posted.pop()

    def test_an_earlier_report_is_sent_again_first(self, agent, fake, undelivered):
        assert agent().take_part("query 2").round == 2
        paths = [request.path for request in fake.requests if request.method == "POST"][1:]
        assert paths == [f"/v1/rounds/{number * 32}/reports" for number in "12"]
        assert fake.posted[0] == undelivered
        assert [one.arrived for one in agent().sent] == [True, True]

    def test_it_is_sent_again_even_without_a_current_list(self, agent, fake, undelivered):
        fake.state["state"] = "open"
        assert agent().take_part("query 2") is None
        assert fake.posted == [undelivered]

    @pytest.mark.usefixtures("undelivered")
    def test_a_round_that_is_over(self, agent, fake):
        fake.over.add("1" * 32)
        assert agent().take_part("query 2").arrived
        assert [(one.arrived, one.over) for one in agent().sent] == [(False, True), (True, False)]
        assert agent().left == 0  # it stays charged
        agent().take_part("query 2")
        assert fake.posted[2:] == []  # it is not sent again

    def test_a_silent_collector_gets_one_request(self, agent, fake):
        """There may be many reports, and each of them would wait for two minutes."""
        fake.lost = True
        for number in (1, 2, 3):
            next_round(fake, number)
            with pytest.raises(StateError, match="does not respond"):
                agent(lifetime_epsilon=40).take_part("query 1")
        fake.state["state"], before = "open", len(fake.posted)
        assert agent().take_part("query 1") is None
        assert len(fake.posted) == before + 1

    def test_a_report_that_has_arrived_stays_so(self, agent):
        """Another process has sent it later, too, and got the response that the round is over."""
        arrived = agent().take_part("query 1")
        assert agent()._file.settle(arrived, arrived=False) == arrived
        assert agent().sent == [arrived]

    @pytest.mark.usefixtures("undelivered")
    def test_a_report_that_is_refused_again(self, agent, fake):
        fake.refused = [{"index": 0, "reason": "another head list"}]
        fake.state["state"] = "open"
        assert agent().take_part("query 2") is None
        assert [(one.arrived, one.over) for one in agent().sent] == [(False, False)]


def test_a_refused_report_stays_charged(agent, fake):
    fake.refused = [{"index": 0, "reason": "another head list"}]
    with pytest.raises(StateError, match="refused"):
        agent().take_part("query 1")
    assert agent().left == 4
    assert not agent().sent[0].arrived


@pytest.mark.slow
def test_all_reports_have_the_same_length(tmp_path, fake, collector):
    names = HeadList.of([(f"query {i}", f"https://site{i}.example/") for i in range(300)])
    fake.head_list = reporting(names, epsilon=4, subset_size=3)
    fake.publish_list()
    for i in range(40):
        device = Agent(tmp_path / f"{i}", collector, key=fake.signer.public, **PINNED)
        device.take_part(f"query {i}" if i % 3 else None)
    assert len({len(body) for body in fake.posted}) == 1
    written = [json.loads(body)["reports"][0]["cells"] for body in fake.posted]
    assert len({len(json.dumps(cells)) for cells in written}) > 1  # without the padding, the length would reveal it


def test_reports_have_random_ids(tmp_path, fake, collector):
    for i in range(8):
        Agent(tmp_path / f"{i}", collector, key=fake.signer.public, **PINNED).take_part("query 1")
    ids = [json.loads(body)["reports"][0]["id"] for body in fake.posted]
    assert len(set(ids)) == 8
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in ids)
