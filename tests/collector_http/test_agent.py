"""A device believes nothing but its own settings and what the pinned key has signed."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import httpx
import pytest
import sqlalchemy as sa

from blender_dp.collector.secrets.signing import Signer
from blender_dp.collector.storage.schema import records, reports
from blender_dp.errors import BlenderError, DocumentError, StateError
from blender_dp_device.agent import Agent, CollectorClient, Sent, Uploaded
from blender_dp_device.agent import agent as module
from blender_dp_device.agent.account import AccountFile
from blender_dp_device.agent.opening import Opening
from blender_dp_device.records import canonical
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.wire.documents import digest
from tests.collector_http.conftest import RECORDS, listening
from tests.lists import reporting

PINNED = {"campaign": "c" * 32, "epsilon": "4", "delta": "1e-6", "lifetime_epsilon": "8", "least_seconds": 0}
KEY = base64.b64encode(bytes(32)).decode()

NO_QUERIES = reporting(HeadList(()), epsilon=4)


class Liar:
    """A collector of which every answer can be replaced; it signs with a key of its own."""

    def __init__(self, folder, **changed) -> None:
        self.signer = Signer.load(folder / "signing-key.pem")
        self.head_list = reporting(HeadList.of(RECORDS), epsilon=4)
        self.state = {"id": "1" * 32, "state": "listed", "opening": None, "head_list": None, "bundle": None}
        self.released = None
        self.documents: dict[str, bytes] = {}
        self.got: list[bytes] = []
        self.down = False
        self.receipt: str | None = None
        self.records: dict[str, bytes] = {}
        self.lost = False
        self.over: set[str] = set()
        self.asked: list[httpx.Request] = []
        self.refused: list[dict[str, object]] = []
        self.withdrawn: set[str] = set()
        self.publish_list(**changed)
        self.publish_opening()

    def publish_opening(self, **changed) -> None:
        content = {
            "campaign": "c" * 32, "round": 1, "round_id": self.state["id"], "epsilon": "4", "delta": "1e-6",
            "expires": 1 << 40,
        } | changed  # fmt: skip
        self.state["opening"] = self.publish("opening", content)

    def publish_list(self, channel: object = None, **changed) -> None:
        document = self.head_list.to_document()
        if channel is not None:
            document["channel"] = {**document["channel"], **channel} if isinstance(channel, dict) else channel
        text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        content = {
            "campaign": "c" * 32, "round": 1, "round_id": self.state["id"], "head_list": document,
            "list_digest": hashlib.sha256(text.encode()).hexdigest(), "expires": 1 << 40,
        } | changed  # fmt: skip
        self.state["head_list"] = self.publish("head-list", content)

    def publish_bundle(self, number: int, campaign: str = "c" * 32) -> None:
        queries = [{"query": f"query {number}", "share": 0.5, "urls": [["https://a.example/", 0.5]]}]
        name = self.publish("bundle", {"campaign": campaign, "round": number, "queries": queries})
        self.released = {"id": "1" * 32, "state": "released", "head_list": None, "bundle": name}

    def publish(self, kind: str, content: dict[str, object]) -> str:
        body = self.signer.sign(kind, content)
        self.documents[digest(body)] = body
        return digest(body)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        if self.down:
            raise httpx.ConnectError("down")
        if request.url.path == "/v1/rounds/current":
            return httpx.Response(200, content=json.dumps({"key": "x", "round": self.state, "released": self.released}))
        if request.method == "DELETE":
            taken = self.records.pop(request.url.path.rpartition("/")[2], None)
            return httpx.Response(404 if taken is None else 204)
        if request.method == "POST":
            self.got.append(request.content)
            if request.url.path.endswith("/records"):
                self.records[json.loads(request.content)["receipt"]] = request.content
            if self.lost:
                raise httpx.ReadTimeout("lost")
            if request.url.path.split("/")[3] in self.over:
                return httpx.Response(409, json={"detail": "the round is released; it takes no reports"})
            if request.url.path.endswith("/records"):
                receipt = self.receipt or json.loads(request.content)["receipt"]
                return httpx.Response(201, content=json.dumps({"receipt": receipt}))
            return httpx.Response(200, json={"refused": self.refused})
        return httpx.Response(200, content=self.documents[request.url.path.rpartition("/")[2]])


@pytest.fixture
def liar(tmp_path) -> Liar:
    return Liar(tmp_path / "collector")


@pytest.fixture
def agent(tmp_path, liar):
    def made(**changed) -> Agent:
        collector = CollectorClient("https://collector", transport=httpx.MockTransport(liar.answer))
        return Agent(tmp_path / "device", collector, **{**PINNED, "key": liar.signer.public, **changed})

    return made


def test_a_live_collector(tmp_path):
    with listening(tmp_path / "data") as live:
        listed = live.listed(live.campaign())
        live.opened(live.campaign(name="other"))  # which is now the newest of all
        collector, pinned = CollectorClient(live.url), {**PINNED, "lifetime_epsilon": 4, "campaign": listed["campaign"]}
        device = Agent(tmp_path / "device", collector, key=live.service.signer.public, **pinned)
        sent = device.take_part(*RECORDS[0])
        assert sent.arrived
        assert device.left == 0
        assert device.take_part(*RECORDS[1]) == sent
        with live.service.rounds.store.read() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(reports)) == 1
        with live.http() as http:
            http.post(f"/v1/rounds/{listed['id']}/reports", json={"reports": live.messages(listed, 200)})
        live.operator("POST", f"/v1/operator/rounds/{listed['id']}/close")
        live.reached(listed["id"], "released")
        device.refresh_bundle()
        collector.close()
    found = device.search("query")  # the collector is gone
    assert found
    assert device.suggestions("query")[1] == [row["query"] for row in found]
    assert device.index().prefix("query") == found


def test_one_report_in_a_round_and_an_account_of_it(agent, liar):
    device = agent()
    first = device.take_part("query 1", "https://site1.example/")
    assert first.arrived
    assert [agent().take_part("query 2", None), device.take_part("query 3", None)] == [first, first]
    assert len(liar.got) == 1
    assert agent().sent == [first]
    assert agent().left == 4


def test_a_round_without_a_list(agent, liar):
    liar.state["state"] = "open"
    assert agent().take_part("query 1") is None
    liar.state = None
    assert agent().take_part("query 1") is None
    assert not liar.got


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"channel": {"epsilon": "8"}}, "another ε"),
        ({"channel": {"epsilon": "2"}}, "another ε"),
        ({"campaign": "d" * 32}, "another campaign"),
        ({"round_id": "2" * 32}, "not the list of this round"),
        ({"list_digest": "0" * 64}, "not the list of this round"),
        ({"list_digest": HeadList.of(RECORDS).digest}, "not the list of this round"),
        ({"expires": 1}, "has expired"),
        ({"expires": None}, "does not say when it expires"),
        ({"expires": "never"}, None),
        ({"head_list": {"schema": "blender-dp/head-list/2"}}, None),
        ({"head_list": HeadList.of(RECORDS).to_document()}, "does not say how devices randomise"),
        ({"head_list": None}, None),
        ({"round": None}, None),
        ({"channel": {"randomiser": "two-stage"}}, "delta"),
        ({"channel": {"randomiser": "two-stage", "delta": "1/2"}}, "does not belong there"),
        ({"channel": {"randomiser": "none"}}, "not an exact number"),
        ({"channel": {"m_c": 2}}, "m_c"),
        ({"channel": {"f_c": "2"}}, "f_c"),
        ({"channel": {"subset_size": 0}}, "subset_size"),
        ({"channel": {"subset_size": 10_001}}, "shape"),
        ({"channel": {"subset_size": True}}, "not an exact number"),
        ({"channel": {"subset_size": "1"}}, None),
        ({"channel": {"subset_size": 10**9}}, "subset_size"),
        ({"channel": {"more": 1}}, "unknown"),
        ({"channel": []}, "needs randomiser"),
        ({"round": 0}, "shape"),
        ({"round": True}, "shape"),
        ({"round": 1.5}, "shape"),
        ({"round": 1 << 50}, "shape"),
        # A few bytes that would take hours and gigabytes to read as an exact number.
        ({"channel": {"epsilon": "1e400000000"}}, "not an exact number"),
        ({"channel": {"f_c": "1e400000000"}}, "not an exact number"),
        ({"channel": {"f_c": "1e-400000000"}}, "not an exact number"),
        ({"channel": {"f_c": "1/0"}}, "not an exact number"),
        ({"channel": {"f_c": "9" * 3_000_000}}, "not an exact number"),
        ({"channel": {"f_c": "nan"}}, "not an exact number"),
        ({"channel": {"f_c": 0.85}}, "not an exact number"),
        # Another way to write a number would be another digest of the same list.
        ({"channel": {"f_c": "0.85"}}, "not an exact number"),
        ({"channel": {"f_c": "34/40"}}, "lowest terms"),
        ({"channel": {"epsilon": "4/1"}}, "lowest terms"),
        ({"head_list": NO_QUERIES.to_document(), "list_digest": NO_QUERIES.digest}, "no queries"),
    ],
)
def test_lists_that_are_refused(agent, liar, changed, said):
    liar.publish_list(**changed)
    with pytest.raises(BlenderError, match=said):
        agent().take_part("query 1", "https://site1.example/")
    assert not liar.got
    assert agent().left == 8


@pytest.mark.parametrize("channel", [{"f_c": "9999/10000"}, {"subset_size": 10_000}, {"f_c": "1/3", "subset_size": 2}])
def test_whatever_f_c_and_size_the_list_names(agent, liar, channel):
    liar.publish_list(channel)
    assert agent().take_part("query 1").arrived


def test_what_a_list_says_is_told_in_short(agent, liar):
    for wrong in ({"schema": "x" * 99_999}, {**NO_QUERIES.to_document(), "canonical_version": "x" * 99_999}):
        liar.publish_list(head_list=wrong)
        with pytest.raises(DocumentError) as told:
            agent().take_part("query 1")
        assert len(str(told.value)) < 400


@pytest.mark.parametrize("wrong", ["", "\x00", "../../operator", "A" * 32, "1" * 31, "1" * 70_000, "\ud800", 7, None, ["1"]])
class TestNames:
    """What a collector says becomes a part of an address only if it has the shape of a name."""

    def test_of_a_round(self, agent, liar, wrong):
        liar.state["id"] = wrong
        for act in (lambda: agent().take_part("query 1"), lambda: agent().upload("t", "query", "a.example")):
            with pytest.raises(DocumentError, match="shape"):
                act()
        assert {request.url.path for request in liar.asked} == {"/v1/rounds/current"}

    def test_of_a_list(self, agent, liar, wrong):
        liar.state["head_list"] = wrong
        with pytest.raises(DocumentError, match="shape"):
            agent().take_part("query 1")
        assert len(liar.asked) == 1

    def test_of_a_bundle(self, agent, liar, wrong):
        liar.publish_bundle(1)
        liar.released["bundle"] = wrong
        with pytest.raises(DocumentError, match="shape"):
            agent().refresh_bundle()
        assert len(liar.asked) == 1

    def test_a_receipt(self, agent, liar, wrong):
        liar.state["state"] = "open"
        liar.receipt = wrong or "x"
        with pytest.raises(DocumentError, match="another receipt"):
            agent().upload("t", "query", "a.example")
        assert agent().withdraw() == 1


def test_a_list_that_has_not_expired(agent, liar):
    liar.publish_list(expires=int(time.time()) + 100)
    assert agent().take_part("query 1").arrived


def test_a_list_that_is_too_long(agent, liar, monkeypatch):
    monkeypatch.setattr(module, "MOST_QUERIES", 4)
    with pytest.raises(DocumentError, match="more than 4 queries"):
        agent().take_part("query 1")


def test_another_key(agent, liar, tmp_path):
    with pytest.raises(DocumentError, match="not signed by the pinned key"):
        agent(key=Signer.load(tmp_path / "other.pem").public).take_part("query 1")
    assert not liar.got


@pytest.mark.parametrize("tamper", ["content", "kind", "signature", "nonsense", "deep"])
def test_a_list_that_was_tampered_with(agent, liar, tamper):
    body = json.loads(liar.documents[liar.state["head_list"]])
    if tamper == "content":
        body["content"]["head_list"]["channel"]["subset_size"] = 2
    if tamper == "kind":
        body["kind"] = "bundle"
    if tamper == "signature":
        body["signature"] = "AAAA"
    text = {"nonsense": b"[]", "deep": b"[" * 100_000}.get(tamper, json.dumps(body).encode())
    liar.documents[digest(text)] = text
    liar.state["head_list"] = digest(text)
    with pytest.raises(DocumentError, match="not signed by the pinned key"):
        agent().take_part("query 1")
    assert not liar.got


def test_another_kind_of_document(agent, liar):
    liar.state["head_list"] = liar.publish("bundle", {})
    with pytest.raises(DocumentError, match="as: head-list"):
        agent().take_part("query 1")


def test_a_document_that_is_not_what_its_name_says(agent, liar):
    name = liar.state["head_list"]
    liar.documents["0" * 64] = liar.documents[name]
    liar.state["head_list"] = "0" * 64
    with pytest.raises(DocumentError, match="not what its name says"):
        agent().take_part("query 1")


def test_a_document_without_end(agent, liar, monkeypatch):
    monkeypatch.setattr("blender_dp_device.agent.http._DOCUMENT_BYTES", 100)
    with pytest.raises(StateError, match="more than 100 bytes"):
        agent().take_part("query 1")


def test_an_older_round(agent, liar):
    liar.publish_list(round=5)
    agent().take_part("query 1")
    liar.state["id"] = "2" * 32
    for number in (4, 5):  # another round of the same number would be a second answer in one round
        liar.publish_list(round=number)
        with pytest.raises(DocumentError, match="older round"):
            agent().take_part("query 1")
    liar.publish_list(round=6)
    assert agent().take_part("query 1").arrived


@pytest.mark.parametrize("answer", [{}, [], None, {"round": 1}, {"round": {}}])
def test_a_pointer_that_is_none(tmp_path, answer):
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=answer))
    device = Agent(tmp_path, CollectorClient("https://x", transport=transport), key=KEY, **PINNED)
    for act in (lambda: device.take_part("query 1"), lambda: device.upload("t", "query", "a.example")):
        with pytest.raises(DocumentError):
            act()


def test_a_report_that_may_not_have_arrived_is_sent_again_as_it_was(agent, liar):
    liar.lost = True
    for _ in range(3):
        with pytest.raises(StateError, match="does not answer"):
            agent().take_part("query 1", "https://site1.example/")
    assert agent().left == 4  # charged once
    liar.lost = False
    sent = agent().take_part("query 2", "https://site2.example/")  # whatever the record is now
    assert sent.arrived
    assert len(liar.got) == 4
    assert len(set(liar.got)) == 1
    assert agent().left == 4


def test_a_crash_before_anything_is_sent(agent, liar, monkeypatch):
    """The account is on the disk before the report leaves."""
    with monkeypatch.context() as patch:
        patch.setattr(Agent, "_deliver", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            agent().take_part("query 1")
    (charged,) = agent().sent
    assert not charged.arrived
    agent().take_part("query 1")
    assert liar.got == [charged.body.encode()]


def next_round(liar, number: int) -> None:
    liar.state = {**liar.state, "id": str(number) * 32}
    liar.publish_list(round=number)


class TestEarlierRounds:
    """What may not have arrived is sent again by its own round's id, and is in nobody's way."""

    @pytest.fixture
    def undelivered(self, agent, liar) -> bytes:
        liar.lost = True
        with pytest.raises(StateError, match="does not answer"):
            agent().take_part("query 1")
        liar.lost = False
        next_round(liar, 2)
        return liar.got.pop()

    def test_it_is_sent_again_first(self, agent, liar, undelivered):
        assert agent().take_part("query 2").round == 2
        paths = [request.url.path for request in liar.asked if request.method == "POST"][1:]
        assert paths == [f"/v1/rounds/{number * 32}/reports" for number in "12"]
        assert liar.got[0] == undelivered
        assert [one.arrived for one in agent().sent] == [True, True]

    def test_also_while_there_is_no_list(self, agent, liar, undelivered):
        liar.state["state"] = "open"
        assert agent().take_part("query 2") is None
        assert liar.got == [undelivered]

    @pytest.mark.usefixtures("undelivered")
    def test_a_round_that_is_over(self, agent, liar):
        liar.over.add("1" * 32)
        assert agent().take_part("query 2").arrived
        assert [(one.arrived, one.over) for one in agent().sent] == [(False, True), (True, False)]
        assert agent().left == 0  # it stays charged
        agent().take_part("query 2")
        assert liar.got[2:] == []  # nobody asks for it again

    def test_a_silent_collector_is_asked_once(self, agent, liar):
        """There may be many, and each of them would wait for two minutes."""
        liar.lost = True
        for number in (1, 2, 3):
            next_round(liar, number)
            with pytest.raises(StateError, match="does not answer"):
                agent(lifetime_epsilon=40).take_part("query 1")
        liar.state["state"], before = "open", len(liar.got)
        assert agent().take_part("query 1") is None
        assert len(liar.got) == before + 1

    def test_what_has_arrived_has_arrived(self, agent):
        """Another process has sent it too, later, and was told that the round is over."""
        arrived = agent().take_part("query 1")
        assert agent()._settle(arrived, arrived=False) == arrived
        assert agent().sent == [arrived]

    @pytest.mark.usefixtures("undelivered")
    def test_one_that_is_refused(self, agent, liar):
        liar.refused = [{"index": 0, "reason": "another head list"}]
        liar.state["state"] = "open"
        assert agent().take_part("query 2") is None
        assert [(one.arrived, one.over) for one in agent().sent] == [(False, False)]


class TestTwoCollectors:
    """One device takes part in campaigns of two collectors, with one account: what is one's is not the other's."""

    @pytest.fixture
    def other(self, tmp_path) -> Liar:
        made = Liar(tmp_path / "other")
        made.publish_list(campaign="d" * 32)
        made.publish_opening(campaign="d" * 32)
        return made

    @pytest.fixture
    def elsewhere(self, tmp_path, other) -> Agent:
        collector = CollectorClient("https://other", transport=httpx.MockTransport(other.answer))
        return Agent(tmp_path / "device", collector, **{**PINNED, "campaign": "d" * 32, "key": other.signer.public})

    def test_a_report_that_may_not_have_arrived(self, agent, liar, other, elsewhere):
        liar.lost = True
        with pytest.raises(StateError, match="does not answer"):
            agent().take_part("query 1")
        liar.lost = False
        other.state["id"] = "9" * 32
        other.publish_list(campaign="d" * 32)
        other.over.add("1" * 32)
        assert elsewhere.take_part("query 1").arrived
        assert [request.url.path for request in other.asked if request.method == "POST"] == [
            f"/v1/rounds/{'9' * 32}/reports"
        ]
        assert liar.got[0] not in other.got
        assert [(one.campaign[0], one.arrived, one.over) for one in agent().sent] == [
            ("c", False, False), ("d", True, False)
        ]  # fmt: skip
        liar.state["state"] = "open"
        agent().take_part("query 2")
        assert liar.got[1:] == liar.got[:1]  # and to its own collector it is sent again
        assert [one.arrived for one in agent().sent] == [True, True]

    def test_rounds_of_one_name(self, agent, liar, other, elsewhere):
        """Whoever collects names his rounds as he likes."""
        mine, others = agent().take_part("query 1"), elsewhere.take_part("query 1")
        assert mine.round_id == others.round_id
        assert [one.campaign[0] for one in (mine, others)] == ["c", "d"]
        assert [len(liar.got), len(other.got)] == [1, 1]
        assert [one.arrived for one in agent().sent] == [True, True]

    def test_settling_one_does_not_settle_the_other(self, agent, liar, elsewhere):
        liar.lost = True
        with pytest.raises(StateError, match="does not answer"):
            agent().take_part("query 1")
        elsewhere.take_part("query 1")
        assert [(one.campaign[0], one.arrived) for one in agent().sent] == [("c", False), ("d", True)]

    def test_receipts(self, agent, liar, other, elsewhere):
        liar.state["state"] = other.state["state"] = "open"
        mine, others = agent().upload("t", "query", "a.example"), elsewhere.upload("t", "query", "a.example")
        assert mine.receipt != others.receipt
        assert elsewhere.withdraw() == 1
        assert not any(mine.receipt in str(request.url) for request in other.asked)
        assert agent().uploaded == [mine, replace(others, withdrawn=True)]
        assert list(liar.records) == [mine.receipt]
        assert agent().left == 0  # both are in the account of one life

    def test_a_record_here_does_not_hinder_a_report_there(self, agent, liar, elsewhere):
        liar.state["state"] = "open"
        agent().upload("t", "query", "a.example")
        assert elsewhere.take_part("query 1").arrived


class TestPace:
    """Whoever signs lists chooses ids, numbers and times as he likes."""

    def test_a_rollback_is_looked_for_again_when_it_is_charged(self, agent, liar, monkeypatch):
        """Another process has reported to a later round, while this one made its report."""
        made = Agent._made

        def slowly(device, *arguments):
            mine = made(device, *arguments)
            with monkeypatch.context() as patch:
                patch.setattr(Agent, "_made", made)
                next_round(liar, 2)
                agent().take_part("query 1")
            return mine

        monkeypatch.setattr(Agent, "_made", slowly)
        with pytest.raises(DocumentError, match="older round"):
            agent().take_part("query 2")
        assert [one.round for one in agent().sent] == [2]
        assert len(liar.got) == 1

    def test_one_number_under_many_ids(self, agent, liar):
        agent(lifetime_epsilon=40).take_part("query 1")
        for one in "23456":
            liar.state["id"] = one * 32
            liar.publish_list(round=1)
            with pytest.raises(DocumentError, match="older round"):
                agent(lifetime_epsilon=40).take_part("query 1")
        assert len(liar.got) == 1

    def test_rounds_faster_than_days(self, agent, liar):
        now = [1_000_000.0]
        patient = {"lifetime_epsilon": 40, "least_seconds": 86_400, "clock": lambda: now[0]}
        agent(**patient).take_part("query 1")
        for number in range(2, 6):
            next_round(liar, number)
            now[0] += 20_000
            with pytest.raises(StateError, match="a short while ago"):
                agent(**patient).take_part("query 1")
        assert len(liar.got) == 1
        now[0] += 6_400
        assert agent(**patient).take_part("query 1").arrived

    def test_a_day_is_what_nobody_has_to_ask_for(self, tmp_path, liar):
        settings = {name: value for name, value in PINNED.items() if name != "least_seconds"}
        collector = CollectorClient("https://collector", transport=httpx.MockTransport(liar.answer))
        device = Agent(tmp_path / "device", collector, key=liar.signer.public, **settings)
        device.take_part("query 1")
        next_round(liar, 2)
        with pytest.raises(StateError, match="86400 seconds"):
            device.take_part("query 1")

    def test_a_clock_that_goes_back(self, agent, liar):
        """It does not end the wait, and a clock that was years ahead does not make it last for years."""
        now = [9e9]
        patient = {"least_seconds": 100, "clock": lambda: now[0]}
        agent(**patient).take_part("query 1")
        next_round(liar, 2)
        for moment in (5e9, 5e9 + 99, 4e9, 4e9 + 99):
            now[0] = moment
            with pytest.raises(StateError, match="a short while ago"):
                agent(**patient).take_part("query 1")
        now[0] = 4e9 + 100
        assert agent(**patient).take_part("query 1").arrived

    def test_another_process_has_charged_meanwhile(self, agent, liar, monkeypatch):
        """The network is asked without the lock, so everything is looked at again when it is charged."""
        made = Agent._made

        def slowly(device, *arguments):
            mine = made(device, *arguments)
            with monkeypatch.context() as patch:
                patch.setattr(Agent, "_made", made)
                agent().take_part("query 1")
            return mine

        monkeypatch.setattr(Agent, "_made", slowly)
        assert agent().take_part("query 2").arrived
        assert len(agent().sent) == 1
        assert len({*liar.got}) == 1


def test_a_refused_report_stays_charged(agent, liar):
    liar.refused = [{"index": 0, "reason": "another head list"}]
    with pytest.raises(StateError, match="refused"):
        agent().take_part("query 1")
    assert agent().left == 4
    assert not agent().sent[0].arrived


def test_all_reports_have_one_length(tmp_path, liar):
    names = HeadList.of([(f"query {i}", f"https://site{i}.example/") for i in range(300)])
    liar.head_list = reporting(names, epsilon=4, subset_size=3)
    liar.publish_list()
    for i in range(40):
        collector = CollectorClient("https://collector", transport=httpx.MockTransport(liar.answer))
        device = Agent(tmp_path / f"{i}", collector, key=liar.signer.public, **PINNED)
        device.take_part(f"query {i}" if i % 3 else None)
    assert len({len(body) for body in liar.got}) == 1
    written = [json.loads(body)["reports"][0]["cells"] for body in liar.got]
    assert len({len(json.dumps(cells)) for cells in written}) > 1  # without the padding it would tell


def test_the_budget_of_a_life(agent, liar):
    for number in range(1, 3):
        liar.state["id"] = str(number) * 32
        liar.publish_list(round=number)
        assert agent().take_part("query 1").arrived
    assert agent().left == 0
    liar.state["id"] = "3" * 32
    liar.publish_list(round=3)
    with pytest.raises(StateError, match="used up"):
        agent().take_part("query 1")
    assert len(liar.got) == 2
    assert agent(lifetime_epsilon=Fraction(12)).take_part("query 1").arrived


def test_reports_have_random_ids(tmp_path, liar):
    for i in range(8):
        collector = CollectorClient("https://collector", transport=httpx.MockTransport(liar.answer))
        Agent(tmp_path / f"{i}", collector, key=liar.signer.public, **PINNED).take_part("query 1")
    ids = [json.loads(body)["reports"][0]["id"] for body in liar.got]
    assert len(set(ids)) == 8
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in ids)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_real_processes_at_once(agent, monkeypatch):
    """Each has made a report of a campaign of its own. The budget is for three of them, whoever comes when."""
    agent(lifetime_epsilon=12)
    save, saves = AccountFile.save, []

    def slowly(file, account):
        time.sleep(0.05)  # so that without a lock all of them have read before anybody has written
        save(file, account)
        saves.append(account)

    monkeypatch.setattr(AccountFile, "save", slowly)
    children = []
    for number in range(1, 9):
        child = os.fork()
        if child == 0:
            try:
                device = agent(lifetime_epsilon=12)
                if number % 2:
                    device._charged(Sent(f"{number:032x}", 1, f"{number:032x}", "4", ""))
                else:
                    opening = Opening(f"{number:032x}", 1, f"{number:032x}", Fraction(4), Fraction(1, 10**6))
                    device._charged_upload(opening)
            except StateError:
                pass
            finally:
                os._exit(len(saves))  # nobody's tests go on in here
        children.append(child)
    charged = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    assert charged == len(agent().sent) + len(agent().uploaded) == 3
    assert agent(lifetime_epsilon=12).left == 0


def test_two_processes_share_one_account(agent, liar):
    """Both were started before either has spent anything."""
    one, other = agent(lifetime_epsilon=4), agent(lifetime_epsilon=4)
    one.take_part("query 1")
    liar.state["id"] = "2" * 32
    liar.publish_list(round=2)
    with pytest.raises(StateError, match="used up"):
        other.take_part("query 1")


def test_opting_out_survives(agent, liar):
    running = agent()
    agent().opt_out()
    assert running.take_part("query 1") is None
    assert agent().take_part("query 1") is None
    assert running.upload("t", "query", "a.example") is None
    assert liar.asked == []  # not even that there is such a device


def test_opting_out_waits_for_nobody(agent, liar, monkeypatch):
    """However slowly the collector answers: the opt-out is there at once, and nothing is charged or sent after it."""
    asked, go_on = threading.Event(), threading.Event()
    answer = liar.answer

    def slowly(request):
        if "/head-lists/" in request.url.path:
            asked.set()
            go_on.wait(20)
        return answer(request)

    liar.answer = slowly
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
    assert not liar.got


def test_opting_out_while_somebody_holds_the_account(agent, liar):
    with AccountFile(agent()._file._folder).locked():
        agent().opt_out()
    assert agent().opted_out


def test_opting_out_between_charging_and_sending(agent, liar, monkeypatch):
    save = AccountFile.save

    def then_opt_out(file, account):
        save(file, account)
        file.opt_out()

    monkeypatch.setattr(AccountFile, "save", then_opt_out)
    assert agent().take_part("query 1") is None
    assert not liar.got
    (charged,) = agent().sent  # it may look as if it had left, never the other way round
    assert not charged.arrived


class TestRecords:
    """What a device of an opt-in user does."""

    @pytest.fixture(autouse=True)
    def open(self, liar) -> None:
        liar.state["state"] = "open"

    def test_upload_and_withdraw(self, agent, liar):
        made = agent().upload("t" * 64, " Query ", "Site.example?utm_source=x")
        assert json.loads(liar.got[0]) == {"query": "query", "url": "https://site.example/", "receipt": made.receipt}
        assert liar.asked[-1].headers["authorization"] == "Bearer " + "t" * 64
        assert [request for request in liar.asked[:-1] if "authorization" in request.headers] == []
        assert agent().uploaded == [made] == [Uploaded("c" * 32, "1" * 32, made.receipt, 1, "4", "1/1000000")]
        assert re.fullmatch("[0-9a-f]{64}", made.receipt)
        assert (agent().spent, agent().left) == (4, 4)
        agent().opt_out()
        assert agent().withdraw() == 1
        assert liar.asked[-1].url.path == f"/v1/records/{made.receipt}"
        assert (agent().uploaded, agent().withdraw()) == ([replace(made, withdrawn=True)], 0)
        assert agent().left == 4  # it was with the collector

    @pytest.mark.parametrize(
        ("query", "url"),
        [
            ("joe@example.com", "a.example"),
            ("query", "https://a.example/?token=x"),
            ("query", None),
            (None, "a.example"),
            ("", ""),
            ("\ud800\x00", "a.example"),
            ("x" * 2_048, "a.example"),
            ('"' * 1_024, "a.example"),  # twice as long in JSON
            ("ä" * 1_024, "a.example"),
            ("x" * 10_000_000, "a.example"),
        ],
    )
    def test_what_cannot_be_used_is_uploaded_as_no_record(self, agent, liar, query, url):
        """How many opt-in users there are is public: it must not depend on anybody's record."""
        made = agent().upload("t", query, url)
        assert json.loads(liar.got[0]) == {"query": None, "url": None, "receipt": made.receipt}
        assert (agent().uploaded, agent().left) == ([made], 4)
        liar.state["state"] = "listed"
        assert agent().take_part(query, url) is None

    def test_all_uploads_have_one_length(self, agent, liar):
        told = [
            (None, None), ("a", "a.example"), ("é" * 300, "b.example/🦊"), ("x" * 2_000, "c.example"), ("x" * 9_999, "d"),
            ('a"b\\c' * 100, "e.example/\"\"\\"), ("joe@example.com", "f.example"), ("\u2028\n\x1f\x7f", "g.example"),
        ]  # fmt: skip
        for query, url in told:
            agent().upload("t" * 64, query, url)
        assert len({len(body) for body in liar.got}) == 1
        lengths = {len(bytes(str(request.url) + str(request.headers), "utf-8")) for request in liar.asked if request.content}
        assert len(lengths) == 1
        assert sum(json.loads(body)["query"] is not None for body in liar.got) == 4

    @pytest.mark.parametrize("state", ["open", "listed"])
    def test_the_record_is_read_before_anybody_is_asked(self, agent, liar, monkeypatch, state):
        """How long that takes depends on the record, and whoever is asked sees the time between two requests."""
        liar.state["state"] = state
        raw = "HTTPS://A.example:443/%7Ejoe?utm_source=x"
        read = []
        step = canonical._url_step
        monkeypatch.setattr(canonical, "_url_step", lambda url: read.append((url, len(liar.asked))) or step(url))
        assert agent().upload("t", "Query 1", raw) if state == "open" else agent().take_part("Query 1", raw)
        assert (raw, 0) in read
        assert {url for url, asked in read if asked} <= {canonical.canonical_url(raw)}

    @pytest.mark.parametrize("state", ["open", "listed"])
    @pytest.mark.parametrize("raw", ["x" * 10_000_000, "https://a.example/" + "%3" * 5_000_000, "\ufdfa" * 1_000_000])
    def test_giant_texts_are_not_read(self, agent, liar, state, raw):
        liar.state["state"] = state
        assert agent().upload("t", raw, raw) if state == "open" else agent().take_part(raw, raw)

    def test_the_longest_record_fits(self, agent, liar):
        room = 2_048 - len('["", "https://a.example/"]')
        for length in (room, room + 1):
            agent().upload("t", "x" * length, "a.example")
        assert [json.loads(body)["query"] is None for body in liar.got] == [False, True]

    def test_no_round_is_open(self, agent, liar):
        liar.state["state"] = "listed"
        assert agent().upload("t", "query", "a.example") is None
        liar.state["state"] = "open"
        agent().opt_out()
        assert agent().upload("t", "query", "a.example") is None
        assert not liar.got

    def test_a_second_one_has_the_same_receipt(self, agent, liar):
        """Whichever of them has arrived, the receipt takes it back."""
        first = agent().upload("t", "query", "a.example")
        assert agent().upload("t", "other", "a.example") == first
        assert [json.loads(body)["query"] for body in liar.got] == ["query", "other"]
        assert agent().uploaded == [first]
        assert agent().left == 4  # charged once

    def test_after_a_withdrawal_no_other_part_is_taken_in_the_round(self, agent, liar):
        first = agent().upload("t", "query", "a.example")
        assert agent().withdraw() == 1
        assert agent().upload("t", "query", "a.example") is None
        liar.state["state"] = "listed"
        assert agent().take_part("query 1") is None
        assert len(liar.got) == 1
        next_round(liar, 2)
        liar.publish_opening(round=2)
        liar.state["state"] = "open"
        assert agent().upload("t", "query", "a.example").receipt != first.receipt

    def test_one_that_may_have_arrived(self, agent, liar):
        """Nobody is in both groups: the account knows of it, and how to take it back, before it leaves."""
        liar.lost = True
        with pytest.raises(StateError, match="does not answer"):
            agent().upload("t", "query", "a.example")
        liar.lost = False
        (made,) = agent().uploaded
        assert json.loads(liar.got[0])["receipt"] == made.receipt
        liar.state["state"] = "listed"
        assert agent().take_part("query 1") is None
        assert len(liar.got) == 1
        assert agent().withdraw() == 1
        assert (liar.records, agent().uploaded) == ({}, [replace(made, withdrawn=True)])
        assert agent().take_part("query 1") is None

    def test_the_account_is_written_before_it_leaves(self, agent, monkeypatch):
        def crashes(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(CollectorClient, "post_bytes", crashes)
        with pytest.raises(KeyboardInterrupt):
            agent().upload("t", "query", "a.example")
        assert (len(agent().uploaded), agent().left) == (1, 4)

    @pytest.mark.parametrize("status", [403, 404, 409, 422, 429, 500, 503])
    def test_one_that_was_refused_is_begun_all_the_same(self, agent, liar, status):
        """Whether it is refused may depend on the record, at a collector that wants it so; the group must not."""
        answer = liar.answer
        liar.answer = lambda request: httpx.Response(status) if request.method == "POST" else answer(request)
        with pytest.raises(StateError):
            agent().upload("t", "query", "a.example")
        liar.answer = answer
        liar.state["state"] = "listed"
        assert agent().take_part("query 1") is None
        assert (len(agent().uploaded), agent().left) == (1, 4)

    def test_an_answer_about_another_receipt(self, agent, liar):
        liar.receipt = "f" * 64
        with pytest.raises(DocumentError, match="another receipt"):
            agent().upload("t", "query", "a.example")
        assert agent().uploaded[0].receipt != "f" * 64
        assert agent().withdraw() == 1

    def test_opting_out_while_the_collector_is_asked(self, agent, liar):
        answer = liar.answer

        def then_opt_out(request):
            agent().opt_out()
            return answer(request)

        device = agent()
        device._collector = CollectorClient("https://collector", transport=httpx.MockTransport(then_opt_out))
        assert device.upload("t", "query", "a.example") is None
        assert (liar.got, agent().uploaded) == ([], [])

    def test_too_late_to_withdraw(self, agent, liar):
        made = agent().upload("t", "query", "a.example")
        liar.records.clear()
        assert agent().withdraw() == 0
        assert agent().uploaded == [made]

    def test_a_live_collector(self, tmp_path):
        with listening(tmp_path / "data") as live:
            campaign = live.campaign()
            live.opened(campaign)
            (token,) = live.enrolled(campaign)
            collector = CollectorClient(live.url)
            device = Agent(tmp_path / "x", collector, key=live.service.signer.public, **{**PINNED, "campaign": campaign})
            assert device.upload(token, *RECORDS[0]).receipt
            assert device.withdraw() == 1
            assert device.upload(token, *RECORDS[0]) is None
            collector.close()

    @pytest.mark.parametrize("answered_first", [True, False])
    def test_a_live_collector_whose_answers_are_lost(self, tmp_path, answered_first):
        """The record that arrived without an answer, first or second, is found and taken back, also after an opt-out."""

        class Lossy(httpx.HTTPTransport):
            lose = False

            def handle_request(self, request):
                answer = super().handle_request(request)
                if self.lose and request.method == "POST":
                    answer.read()
                    raise httpx.ReadTimeout("lost")
                return answer

        with listening(tmp_path / "data") as live:
            campaign = live.campaign()
            round_id = live.opened(campaign)
            (token,) = live.enrolled(campaign)
            transport = Lossy()
            collector = CollectorClient(live.url, transport=transport)
            device = Agent(tmp_path / "x", collector, key=live.service.signer.public, **{**PINNED, "campaign": campaign})

            def kept() -> int:
                with live.service.rounds.store.read() as connection:
                    return connection.scalar(sa.select(sa.func.count()).select_from(records))

            if answered_first:
                device.upload(token, *RECORDS[0])
            transport.lose = True
            with pytest.raises(StateError, match="does not answer"):
                device.upload(token, *RECORDS[1])
            transport.lose = False
            assert kept() == 1
            if not answered_first:
                device.opt_out()
            assert device.withdraw() == 1
            assert (kept(), [one.withdrawn for one in device.uploaded]) == (0, [True])
            late = {"query": "q", "receipt": device.uploaded[0].receipt}  # a copy that was under way
            with live.http(token) as http:
                assert http.post(f"/v1/rounds/{round_id}/records", json=late).status_code == 409
            assert kept() == 0
            collector.close()

    def test_a_live_collector_and_a_receipt_that_is_taken(self, tmp_path):
        with listening(tmp_path / "data") as live, live.http() as http:
            campaign = live.campaign()
            path = f"/v1/rounds/{live.opened(campaign)}/records"
            one, other = ({"Authorization": f"Bearer {token}"} for token in live.enrolled(campaign, 2))

            def sent(receipt: object, who: dict[str, str]) -> httpx.Response:
                return http.post(path, json={"query": "query", "receipt": receipt}, headers=who)

            assert sent("ab" * 32, one).json() == {"receipt": "ab" * 32}
            refused = sent("ab" * 32, other)
            assert refused.status_code == 409
            assert "another record's" in refused.json()["detail"]
            assert [sent(wrong, one).status_code for wrong in ("AB" * 32, "ab" * 31, 7, "")] == [422] * 4


EMPTY = {"sent": [], "records": [], "newest": {}, "bundles": {}, "charged": None}
SENT = {"campaign": "c" * 32, "round": 1, "round_id": "1" * 32, "epsilon": "4", "body": ""}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        "[" * 100_000,
        json.dumps({**EMPTY, "sent": [{}]}),
        *[
            json.dumps({**EMPTY, "sent": [{**SENT, "epsilon": wrong}]})
            for wrong in ("x", "1e400000000", "1/0", "-4", "", 4, None, "9" * 5_000)
        ],
        *[
            json.dumps({**EMPTY, "sent": [{**SENT, **wrong}]})
            for wrong in (
                {"round": "1"},
                {"round": True},
                {"round": -1},
                {"round_id": "../../x"},
                {"campaign": 7},
                {"body": 7},
                {"arrived": "no"},
                {"over": 0},
            )
        ],
        *[
            json.dumps({**EMPTY, "records": [{"campaign": "c" * 32, "round_id": "1" * 32, "receipt": "ab" * 32} | wrong]})
            for wrong in (
                {"receipt": None},
                {"epsilon": "1e400000000"},
                {"epsilon": "-4"},
                {"epsilon": 4},
                {"delta": "x"},
                {"withdrawn": "no"},
                {"round": "1"},
                {"round_id": 7},
                {"campaign": None},
                {"more": 1},
            )
        ],
        *[json.dumps({**EMPTY, "newest": {"c" * 32: wrong}}) for wrong in ("x", "1", 0.5, True, -5, None)],
        *[json.dumps({**EMPTY, "bundles": {"c" * 32: wrong}}) for wrong in ("x", "1", 0.5, True, -5, None)],
        *[
            json.dumps({**EMPTY, "charged": wrong})
            for wrong in ("x", "1", "nan", True, float("nan"), float("inf"), float("-inf"))  # after NaN nobody would wait
        ],
    ],
)
class TestDamagedAccount:
    @pytest.fixture(autouse=True)
    def damaged(self, agent, tmp_path, text) -> None:
        agent()
        (tmp_path / "device/account.json").write_text(text)

    def test_it_is_not_begun_anew(self, agent, liar, tmp_path, text):
        liar.publish_bundle(1)
        for act in (
            lambda: agent().take_part("query 1"),
            lambda: agent().upload("t", "query", "a.example"),
            lambda: agent().withdraw(),
            lambda: agent().refresh_bundle(),
            lambda: agent().left,
            lambda: agent().sent,
        ):
            with pytest.raises(DocumentError, match="shape"):
                act()
        assert liar.asked == []
        assert (tmp_path / "device/account.json").read_text() == text

    def test_its_user_can_opt_out(self, agent, liar):
        assert not agent().opted_out
        agent().opt_out()
        assert agent().opted_out
        assert agent().take_part("query 1") is None
        assert liar.asked == []


class TestAccountOfAnEarlierVersion:
    """Its uploads have neither a number nor an ε, and were not charged."""

    OLD: ClassVar = {**EMPTY, "records": [{"campaign": "c" * 32, "round_id": "1" * 32, "receipt": "ab" * 32}]}

    @pytest.fixture(autouse=True)
    def old(self, agent, tmp_path) -> None:
        agent()
        (tmp_path / "device/account.json").write_text(json.dumps({**self.OLD, "sent": [SENT], "newest": {"c" * 32: 1}}))

    def test_they_are_charged_as_much_as_a_round_may_cost(self, agent):
        assert (agent().spent, agent().left) == (8, 0)
        assert agent().uploaded == [Uploaded("c" * 32, "1" * 32, "ab" * 32)]

    def test_the_rounds_they_were_in_are_known(self, agent, liar):
        assert agent(lifetime_epsilon=40).take_part("query 1") is None
        liar.state["state"] = "open"
        with pytest.raises(DocumentError, match="another number"):
            agent(lifetime_epsilon=40).upload("t", "query", "a.example")
        assert not liar.got

    def test_they_can_be_withdrawn(self, agent, liar):
        liar.records["ab" * 32] = b""
        assert agent().withdraw() == 1
        assert [one.withdrawn for one in agent().uploaded] == [True]


class TestFiles:
    """What a device keeps is on the disk, and for nobody else."""

    @pytest.fixture(autouse=True)
    def everybody_may_read_new_files(self) -> Iterator[None]:
        before = os.umask(0)
        yield
        os.umask(before)

    @pytest.fixture
    def synced(self, monkeypatch) -> list[Path]:
        """What is synced, in order."""
        names, sync = [], os.fsync

        def recorded(handle):
            names.append(Path(f"/proc/self/fd/{handle}").readlink())
            sync(handle)

        monkeypatch.setattr(os, "fsync", recorded)
        return names

    def test_modes(self, agent, tmp_path):
        agent().take_part("query 1")
        agent().opt_out()
        folder = tmp_path / "device"
        modes = {one.name: one.stat().st_mode & 0o777 for one in (folder, *folder.iterdir())}
        assert modes == {"device": 0o700, "account.json": 0o600, "lock": 0o600, "opted-out": 0o600}

    def test_a_new_folder_is_synced_with_those_above_it(self, tmp_path, synced):
        AccountFile(tmp_path / "a/b/device")
        assert synced == [tmp_path / "a/b", tmp_path / "a", tmp_path]
        AccountFile(tmp_path / "a/b/device")
        assert len(synced) == 3  # once

    def test_an_opt_out_is_synced_and_then_its_folder(self, agent, tmp_path, synced):
        agent().opt_out()
        assert synced[-2:] == [tmp_path / "device/opted-out", tmp_path / "device"]


class TestBundle:
    def test_search_without_a_connection(self, agent, liar):
        assert agent().search("query") == []
        liar.publish_bundle(1)
        agent().refresh_bundle()
        liar.down = True
        assert [row["query"] for row in agent().search(" QUERY ")] == ["query 1"]
        assert agent().search("else") == []
        with pytest.raises(StateError, match="does not answer"):
            agent().refresh_bundle()

    def test_nothing_is_released(self, agent):
        agent().refresh_bundle()
        assert agent().search("query") == []

    def test_an_older_one_is_refused(self, agent, liar):
        liar.publish_bundle(2)
        agent().refresh_bundle()
        liar.publish_bundle(1)
        with pytest.raises(DocumentError, match="older"):
            agent().refresh_bundle()
        assert agent().search("query")[0]["query"] == "query 2"
        liar.publish_bundle(3, campaign="d" * 32)
        with pytest.raises(DocumentError, match="another campaign"):
            agent().refresh_bundle()
        agent(campaign="d" * 32).refresh_bundle()
        assert agent().search("query") == []  # what is here is the other one's
        liar.publish_bundle(1)
        with pytest.raises(DocumentError, match="older"):  # another campaign in between does not help
            agent().refresh_bundle()

    @pytest.mark.parametrize(
        "row",
        [
            {"urls": [[]]},
            {"urls": [["a"]]},
            {"urls": [[7, 0.5]]},
            {"urls": [["https://a.example/", "much"]]},
            {"urls": None},
            {"query": 7},
            {"query": ["query"]},
            {"share": None},
            {"share": "much"},
            {"share": True},
        ],
    )
    def test_of_another_shape(self, agent, liar, tmp_path, row):
        rows = [{"query": "query", "share": 0.5, "urls": [["https://a.example/", 0.5]]} | row]
        name = liar.publish("bundle", {"campaign": "c" * 32, "round": 1, "queries": rows})
        liar.released = {"id": "1" * 32, "state": "released", "head_list": None, "bundle": name}
        with pytest.raises(DocumentError, match="shape"):
            agent().refresh_bundle()
        assert agent().search("query") == []
        (tmp_path / "device/bundle.json").write_bytes(liar.documents[name])  # of an earlier version
        for use in (lambda: agent().search("q"), lambda: agent().suggestions("q"), lambda: agent().index()):
            with pytest.raises(DocumentError, match="shape"):
                use()

    @pytest.mark.parametrize("number", [0, "1", 1.5, None, True])
    def test_of_no_round(self, agent, liar, number):
        liar.publish_bundle(number)
        with pytest.raises(DocumentError, match="shape"):
            agent().refresh_bundle()

    def test_the_index_is_of_the_bundle_it_says(self, agent, liar, monkeypatch):
        """Another process wants to fetch a newer one while it is made."""
        liar.publish_bundle(1)
        agent().refresh_bundle()
        liar.publish_bundle(2)
        rows, waiting = Agent._rows, []

        def meanwhile(device, body):
            waiting.append(threading.Thread(target=agent().refresh_bundle))
            waiting[-1].start()
            waiting[-1].join(0.3)
            return rows(device, body)

        with monkeypatch.context() as patch:
            patch.setattr(Agent, "_rows", meanwhile)
            agent().index()
        waiting[0].join(10)
        assert [row["query"] for row in agent().index().prefix("")] == ["query 2"]
        assert [row["query"] for row in agent().search("")] == ["query 2"]

    def test_tampered_with_on_the_way(self, agent, liar):
        liar.publish_bundle(1)
        name = liar.released["bundle"]
        liar.documents[name] = liar.documents[name].replace(b"query 1", b"query 9")
        with pytest.raises(DocumentError, match="not what its name says"):
            agent().refresh_bundle()

    def test_tampered_with_on_the_disk(self, agent, liar, tmp_path):
        liar.publish_bundle(1)
        agent().refresh_bundle()
        path = tmp_path / "device/bundle.json"
        path.write_bytes(path.read_bytes().replace(b"query 1", b"query 9"))
        with pytest.raises(DocumentError, match="not signed"):
            agent().search("query")

    def test_of_another_key(self, agent, liar, tmp_path):
        liar.publish_bundle(1)
        with pytest.raises(DocumentError, match="not signed"):
            agent(key=Signer.load(tmp_path / "other.pem").public).refresh_bundle()
        assert agent().search("query") == []


class TestSigner:
    def test_the_key_is_for_nobody_else(self, tmp_path):
        made = Signer.load(tmp_path / "a/key.pem")
        assert (tmp_path / "a/key.pem").stat().st_mode & 0o777 == 0o600
        assert Signer.load(tmp_path / "a/key.pem").public == made.public

    @pytest.mark.parametrize("content", [b"", b"nonsense"])
    def test_a_damaged_key_is_not_replaced(self, tmp_path, content):
        (tmp_path / "key.pem").write_bytes(content)
        with pytest.raises(DocumentError, match="no Ed25519 key"):
            Signer.load(tmp_path / "key.pem")
        assert (tmp_path / "key.pem").read_bytes() == content
