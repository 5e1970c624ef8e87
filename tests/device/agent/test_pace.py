"""A device limits what it spends in its lifetime and how often, whatever a collector signs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from blender_dp.errors import DocumentError, StateError
from blender_dp_device.agent.agent import Agent
from tests.device.agent.fake_collector import PINNED, next_round


def test_the_lifetime_budget(agent, fake):
    for number in range(1, 3):
        fake.state["id"] = str(number) * 32
        fake.publish_list(round=number)
        assert agent().take_part("query 1").arrived
    assert agent().left == 0
    fake.state["id"] = "3" * 32
    fake.publish_list(round=3)
    with pytest.raises(StateError, match="used up"):
        agent().take_part("query 1")
    larger = agent(lifetime_epsilon=Fraction(12))  # an application cannot raise it by itself
    assert larger.left == 0
    with pytest.raises(StateError, match="used up"):
        larger.take_part("query 1")
    assert len(fake.posted) == 2
    larger.agree_to_limit()
    assert larger.take_part("query 1").arrived
    assert agent(lifetime_epsilon=Fraction(40)).left == 0


class TestPace:
    """The signer of lists chooses ids, numbers and times at will."""

    def test_a_rollback_is_checked_again_when_a_report_is_charged(self, agent, fake, monkeypatch):
        """Another process has reported to a later round, while this one made its report."""
        made = Agent._randomise

        def slowly(device, *arguments):
            mine = made(device, *arguments)
            with monkeypatch.context() as patch:
                patch.setattr(Agent, "_randomise", made)
                next_round(fake, 2)
                agent().take_part("query 1")
            return mine

        monkeypatch.setattr(Agent, "_randomise", slowly)
        with pytest.raises(DocumentError, match="older round"):
            agent().take_part("query 2")
        assert [one.round for one in agent().sent] == [2]
        assert len(fake.posted) == 1

    def test_the_same_number_under_many_ids(self, agent, fake):
        agent(lifetime_epsilon=40).take_part("query 1")
        for one in "23456":
            fake.state["id"] = one * 32
            fake.publish_list(round=1)
            with pytest.raises(DocumentError, match="older round"):
                agent(lifetime_epsilon=40).take_part("query 1")
        assert len(fake.posted) == 1

    def test_rounds_that_come_faster_than_once_a_day(self, agent, fake):
        now = [1_000_000.0]
        patient = {"lifetime_epsilon": 40, "least_seconds": 86_400, "clock": lambda: now[0]}
        agent(**patient).take_part("query 1")
        for number in range(2, 6):
            next_round(fake, number)
            now[0] += 20_000
            with pytest.raises(StateError, match="a short while ago"):
                agent(**patient).take_part("query 1")
        assert len(fake.posted) == 1
        now[0] += 6_400
        assert agent(**patient).take_part("query 1").arrived

    def test_one_round_a_day_by_default(self, tmp_path, fake, collector):
        settings = {name: value for name, value in PINNED.items() if name != "least_seconds"}
        device = Agent(tmp_path / "device", collector, key=fake.signer.public, **settings)
        device.take_part("query 1")
        next_round(fake, 2)
        with pytest.raises(StateError, match="86400 s between rounds"):
            device.take_part("query 1")

    def test_a_clock_that_is_set_back(self, agent, fake):
        """It does not end the wait, and a clock that was years fast does not make the wait last for years."""
        now = [9e9]
        patient = {"least_seconds": 100, "clock": lambda: now[0]}
        agent(**patient).take_part("query 1")
        next_round(fake, 2)
        for moment in (5e9, 5e9 + 99, 4e9, 4e9 + 99):
            now[0] = moment
            with pytest.raises(StateError, match="a short while ago"):
                agent(**patient).take_part("query 1")
        now[0] = 4e9 + 100
        assert agent(**patient).take_part("query 1").arrived

    def test_another_process_has_charged_in_the_meantime(self, agent, fake, monkeypatch):
        """Requests are made without the lock, so everything is checked again when it is charged."""
        made = Agent._randomise

        def slowly(device, *arguments):
            mine = made(device, *arguments)
            with monkeypatch.context() as patch:
                patch.setattr(Agent, "_randomise", made)
                agent().take_part("query 1")
            return mine

        monkeypatch.setattr(Agent, "_randomise", slowly)
        assert agent().take_part("query 2").arrived
        assert len(agent().sent) == 1
        assert len({*fake.posted}) == 1
