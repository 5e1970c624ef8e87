"""After an opt-out nothing leaves the device, and nothing can delay it."""

from __future__ import annotations

import threading

import pytest

from blender_dp.errors import StateError
from blender_dp_device.agent.account import AccountFile
from tests.device.agent.fake_collector import next_round


def test_opting_out_survives(agent, fake):
    running = agent()
    agent().opt_out()
    assert running.take_part("query 1") is None
    assert agent().take_part("query 1") is None
    assert running.upload("t", "query", "a.example") is None
    assert fake.requests == []  # not even that this device exists


def test_opting_out_waits_for_nothing(agent, fake):
    """However slowly the collector responds: the opt-out is stored at once, and nothing is charged or sent after it."""
    asked, go_on = threading.Event(), threading.Event()
    answer = fake.answer

    def slowly(request):
        if "/head-lists/" in request.path:
            asked.set()
            go_on.wait(20)
        return answer(request)

    fake.answer = slowly
    device, came = agent(), []
    thread = threading.Thread(target=lambda: came.append(device.take_part("query 1")))
    thread.start()
    assert asked.wait(20)
    agent().opt_out()
    assert agent().opted_out
    go_on.set()
    thread.join(20)
    assert came == [None]
    assert agent().sent == []
    assert not fake.posted


@pytest.mark.parametrize("state", ["open", "listed"])
def test_opting_out_during_the_first_request_prevents_the_next(agent, fake, state):
    fake.state["state"] = state
    answer = fake.answer

    def then_opt_out(request):
        agent().opt_out()
        return answer(request)

    fake.answer = then_opt_out
    assert (agent().upload("t", "query", "a.example") if state == "open" else agent().take_part("query 1")) is None
    assert [request.path for request in fake.requests] == ["/v1/rounds/current"]


def test_opting_out_while_another_process_holds_the_account(agent, tmp_path):
    with AccountFile(tmp_path / "device").locked():
        agent().opt_out()
    assert agent().opted_out


def test_opting_out_between_charging_and_sending(agent, fake, monkeypatch):
    save = AccountFile.save

    def then_opt_out(file, account):
        save(file, account)
        file.opt_out()

    monkeypatch.setattr(AccountFile, "save", then_opt_out)
    assert agent().take_part("query 1") is None
    assert not fake.posted
    (charged,) = agent().sent  # it may look as if it had left, but never the reverse
    assert not charged.arrived


def test_opting_out_while_an_earlier_report_is_sent_again_prevents_the_next_request(agent, fake):
    fake.lost = True
    with pytest.raises(StateError):
        agent().take_part("query 1")
    fake.lost = False
    next_round(fake, 2)
    fake.requests.clear()
    answer = fake.answer

    def then_opt_out(request):
        if request.method == "POST":
            agent().opt_out()
        return answer(request)

    fake.answer = then_opt_out
    assert agent().take_part("query 1") is None
    assert [request.path for request in fake.requests] == ["/v1/rounds/current", f"/v1/rounds/{'1' * 32}/reports"]
