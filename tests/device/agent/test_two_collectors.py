"""One device participates in campaigns of two collectors, with one account."""

from __future__ import annotations

from dataclasses import replace

import pytest

from blender_dp.errors import StateError
from blender_dp_device.agent.agent import Agent
from tests.device.agent.fake_collector import PINNED, FakeCollector


class TestTwoCollectors:
    """One account for the campaigns of two collectors: what belongs to one is not sent to the other."""

    @pytest.fixture
    def other(self, tmp_path) -> FakeCollector:
        made = FakeCollector(tmp_path / "other")
        made.publish_list(campaign="d" * 32)
        made.publish_opening(campaign="d" * 32)
        return made

    @pytest.fixture
    def elsewhere(self, tmp_path, other, client) -> Agent:
        settings = {**PINNED, "campaign": "d" * 32, "key": other.signer.public}
        return Agent(tmp_path / "device", client(other.answer), **settings)

    def test_a_report_that_may_not_have_arrived(self, agent, fake, other, elsewhere):
        fake.lost = True
        with pytest.raises(StateError, match="does not respond"):
            agent().take_part("query 1")
        fake.lost = False
        other.state["id"] = "9" * 32
        other.publish_list(campaign="d" * 32)
        other.over.add("1" * 32)
        assert elsewhere.take_part("query 1").arrived
        assert [request.path for request in other.requests if request.method == "POST"] == [f"/v1/rounds/{'9' * 32}/reports"]
        assert fake.posted[0] not in other.posted
        assert [(one.campaign[0], one.arrived, one.over) for one in agent().sent] == [
            ("c", False, False), ("d", True, False)
        ]  # fmt: skip
        fake.state["state"] = "open"
        agent().take_part("query 2")
        assert fake.posted[1:] == fake.posted[:1]  # to its own collector it is sent again
        assert [one.arrived for one in agent().sent] == [True, True]

    def test_rounds_with_the_same_id(self, agent, fake, other, elsewhere):
        """A collector can choose any ids for its rounds."""
        mine, others = agent().take_part("query 1"), elsewhere.take_part("query 1")
        assert mine.round_id == others.round_id
        assert [one.campaign[0] for one in (mine, others)] == ["c", "d"]
        assert [len(fake.posted), len(other.posted)] == [1, 1]
        assert [one.arrived for one in agent().sent] == [True, True]

    def test_settling_one_does_not_settle_the_other(self, agent, fake, elsewhere):
        fake.lost = True
        with pytest.raises(StateError, match="does not respond"):
            agent().take_part("query 1")
        elsewhere.take_part("query 1")
        assert [(one.campaign[0], one.arrived) for one in agent().sent] == [("c", False), ("d", True)]

    def test_receipts(self, agent, fake, other, elsewhere):
        fake.state["state"] = other.state["state"] = "open"
        mine, others = agent().upload("t", "query", "a.example"), elsewhere.upload("t", "query", "a.example")
        assert mine.receipt != others.receipt
        assert elsewhere.withdraw() == 1
        assert not any(mine.receipt in request.target for request in other.requests)
        assert agent().uploaded == [mine, replace(others, withdrawn=True, stopped=True)]
        assert list(fake.records) == [mine.receipt]
        assert agent().left == 0  # both are charged to one lifetime budget

    def test_a_record_for_one_does_not_prevent_a_report_to_the_other(self, agent, fake, elsewhere):
        fake.state["state"] = "open"
        agent().upload("t", "query", "a.example")
        assert elsewhere.take_part("query 1").arrived
