"""Documents that were valid before, and uploads beyond the budget: nothing leaves the device."""

from __future__ import annotations

import pytest

from blender_dp.errors import DocumentError, ParameterError, StateError
from blender_dp_device.agent.agent import Agent
from tests.device.agent.fake_collector import FakeCollector, next_round
from tests.device.agent.secret_uploads import nothing_left, upload


@pytest.fixture
def fake(fake) -> FakeCollector:
    """A collector whose round is open."""
    fake.state["state"] = "open"
    return fake


class TestReplay:
    """Documents that were valid before, or are valid for something else."""

    def test_an_older_round(self, agent, fake):
        fake.publish_opening(round=5)
        assert upload(agent(lifetime_epsilon=40))
        for name, number in (("2", 4), ("2", 5), ("2", 1)):
            fake.state["id"] = name * 32
            fake.publish_opening(round=number)
            with pytest.raises(DocumentError, match="older"):
                upload(agent(lifetime_epsilon=40))
        assert len(fake.posted) == 1
        fake.publish_opening(round=6)
        assert upload(agent(lifetime_epsilon=40)).round == 6

    def test_older_than_a_report(self, agent, fake):
        fake.state["state"] = "listed"
        fake.publish_list(round=5)
        agent().take_part("query 1")
        fake.state |= {"state": "open", "id": "2" * 32}
        fake.publish_opening(round=4)
        with pytest.raises(DocumentError, match="older"):
            upload(agent())
        fake.publish_opening(round=5)
        with pytest.raises(DocumentError, match="older"):
            upload(agent())
        assert len(fake.posted) == 1

    def test_a_round_that_was_reported_to(self, agent, fake):
        fake.state["state"] = "listed"
        agent().take_part("query 1")
        fake.state["state"] = "open"
        with pytest.raises(DocumentError, match="older"):
            upload(agent())
        assert (len(fake.posted), agent().uploaded) == (1, [])

    def test_a_list_older_than_an_upload(self, agent, fake):
        fake.publish_opening(round=5)
        upload(agent())
        fake.state |= {"state": "listed", "id": "2" * 32}
        for number in (4, 5):
            fake.publish_list(round=number)
            with pytest.raises(DocumentError, match="older round"):
                agent().take_part("query 1")
        assert len(fake.posted) == 1

    def test_the_same_round_under_another_number(self, agent, fake):
        """Otherwise it could be requested repeatedly, even after a withdrawal."""
        upload(agent(lifetime_epsilon=40))
        agent(lifetime_epsilon=40).withdraw()
        fake.publish_opening(round=2)
        with pytest.raises(DocumentError, match="different number"):
            upload(agent(lifetime_epsilon=40))
        assert len(fake.posted) == 1

    def test_an_opening_that_has_expired_since(self, agent, fake):
        now = [1_000.0]
        fake.publish_opening(expires=2_000)
        assert upload(agent(clock=lambda: now[0]))
        now[0] = 2_001
        with pytest.raises(DocumentError, match="expired"):
            upload(agent(clock=lambda: now[0]))
        assert len(fake.posted) == 1

    def test_an_opening_of_another_campaign_of_the_same_collector(self, agent, fake):
        fake.publish_opening(campaign="d" * 32)
        with pytest.raises(DocumentError, match="another campaign"):
            upload(agent())
        assert nothing_left(agent(), fake)


class TestBudget:
    """Uploads are paced and charged like reports."""

    def test_the_lifetime_budget(self, agent, fake):
        for number in (1, 2):
            next_round(fake, number)
            fake.publish_opening(round=number)
            assert upload(agent())
        assert agent().left == 0
        next_round(fake, 3)
        fake.publish_opening(round=3)
        with pytest.raises(StateError, match="used up"):
            upload(agent())
        fake.state["state"] = "listed"
        with pytest.raises(StateError, match="used up"):
            agent().take_part("query 1")
        assert len(fake.posted) == 2

    def test_openings_that_come_faster_than_once_a_day(self, agent, fake):
        now = [1_000_000.0]
        patient = {"lifetime_epsilon": 40, "least_seconds": 86_400, "clock": lambda: now[0]}
        upload(agent(**patient))
        for number in range(2, 6):
            next_round(fake, number)
            fake.publish_opening(round=number)
            now[0] += 20_000
            with pytest.raises(StateError, match="a short while ago"):
                upload(agent(**patient))
            fake.state["state"] = "listed"
            with pytest.raises(StateError, match="a short while ago"):
                agent(**patient).take_part("query 1")
            fake.state["state"] = "open"
        assert len(fake.posted) == 1
        now[0] += 6_400
        assert upload(agent(**patient))

    def test_replacing_a_record_is_not_paced(self, agent, fake):
        patient = {"least_seconds": 86_400}
        assert upload(agent(**patient)) == upload(agent(**patient))
        assert (len(fake.posted), agent().left) == (2, 4)

    def test_another_process_uploads_at_the_same_time(self, agent, fake, monkeypatch):
        """Requests are made without the lock, so everything is checked again when it is charged."""
        made = Agent._randomise

        def slowly(device, *arguments):
            mine = made(device, *arguments)
            fake.state["state"] = "open"
            upload(agent())
            return mine

        fake.state["state"] = "listed"
        monkeypatch.setattr(Agent, "_randomise", slowly)
        assert agent().take_part("query 1") is None
        assert [len(agent().sent), len(agent().uploaded), len(fake.posted)] == [0, 1, 1]

    def test_an_opt_out_between_charging_and_sending(self, agent, fake, monkeypatch):
        charged = Agent._charge_upload

        def then_opt_out(device, opening):
            made = charged(device, opening)
            device.opt_out()
            return made

        monkeypatch.setattr(Agent, "_charge_upload", then_opt_out)
        assert upload(agent()) is None
        assert fake.posted == []

    def test_a_device_without_a_delta_uploads_nothing(self, agent, fake):
        with pytest.raises(ParameterError, match="delta"):
            upload(agent(delta=None))
        assert fake.requests == []
        fake.state["state"] = "listed"
        assert agent(delta=None).take_part("query 1").arrived  # a report has no δ
