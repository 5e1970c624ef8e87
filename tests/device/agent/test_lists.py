"""Lists that a device reports on, and lists that it refuses."""

from __future__ import annotations

import json
import time

import pytest

from blender_dp.collector.secrets.signing import Signer
from blender_dp.errors import BlenderError, DocumentError, StateError
from blender_dp_device.agent import verification
from blender_dp_device.agent.agent import Agent
from blender_dp_device.digests import document_digest
from blender_dp_device.records.head_list import HeadList
from tests.collector_http.conftest import RECORDS
from tests.device.agent.fake_collector import KEY, PINNED
from tests.device.agent.http_server import Answer
from tests.lists import reporting

NO_QUERIES = reporting(HeadList(()), epsilon=4)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"channel": {"epsilon": "8"}}, "different ε"),
        ({"channel": {"epsilon": "2"}}, "different ε"),
        ({"campaign": "d" * 32}, "another campaign"),
        ({"round_id": "2" * 32}, "not the list of this round"),
        ({"list_digest": "0" * 64}, "not the list of this round"),
        ({"list_digest": HeadList.of(RECORDS).digest}, "not the list of this round"),
        ({"expires": 1}, "has expired"),
        ({"expires": None}, "does not say when it expires"),
        ({"expires": "never"}, None),
        ({"head_list": {"schema": "blender-dp/head-list/2"}}, None),
        ({"head_list": HeadList.of(RECORDS).to_document()}, "does not name its channel"),
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
        # Writing a number differently would change the digest of the same list.
        ({"channel": {"f_c": "0.85"}}, "not an exact number"),
        ({"channel": {"f_c": "34/40"}}, "lowest terms"),
        ({"channel": {"epsilon": "4/1"}}, "lowest terms"),
        ({"head_list": NO_QUERIES.to_document(), "list_digest": NO_QUERIES.digest}, "no queries"),
    ],
)
def test_invalid_lists_are_refused(agent, fake, changed, message):
    fake.publish_list(**changed)
    with pytest.raises(BlenderError, match=message):
        agent().take_part("query 1", "https://site1.example/")
    assert not fake.posted
    assert agent().left == 8


@pytest.mark.parametrize("channel", [{"f_c": "9999/10000"}, {"subset_size": 10_000}, {"f_c": "1/3", "subset_size": 2}])
def test_whatever_f_c_and_size_the_list_names(agent, fake, channel):
    fake.publish_list(channel)
    assert agent().take_part("query 1").arrived


def test_errors_quote_little_of_a_list(agent, fake):
    for wrong in ({"schema": "x" * 99_999}, {**NO_QUERIES.to_document(), "canonical_version": "x" * 99_999}):
        fake.publish_list(head_list=wrong)
        with pytest.raises(DocumentError) as refused:
            agent().take_part("query 1")
        assert len(str(refused.value)) < 400


@pytest.mark.parametrize("wrong", ["", "\x00", "../../operator", "A" * 32, "1" * 31, "1" * 70_000, "\ud800", 7, None, ["1"]])
class TestNames:
    """Names from a collector become part of a path only if they have the expected shape."""

    def test_an_invalid_name_of_a_round_is_refused(self, agent, fake, wrong):
        fake.state["id"] = wrong
        for act in (lambda: agent().take_part("query 1"), lambda: agent().upload("t", "query", "a.example")):
            with pytest.raises(DocumentError, match="shape"):
                act()
        assert {request.path for request in fake.requests} == {"/v1/rounds/current"}

    def test_an_invalid_name_of_a_list_is_refused(self, agent, fake, wrong):
        fake.state["head_list"] = wrong
        with pytest.raises(DocumentError, match="shape"):
            agent().take_part("query 1")
        assert len(fake.requests) == 1

    def test_an_invalid_name_of_a_bundle_is_refused(self, agent, fake, wrong):
        fake.publish_bundle(1)
        fake.released["bundle"] = wrong
        with pytest.raises(DocumentError, match="shape"):
            agent().refresh_bundle()
        assert len(fake.requests) == 1

    def test_an_invalid_receipt_is_refused(self, agent, fake, wrong):
        fake.state["state"] = "open"
        fake.receipt = wrong or "x"
        with pytest.raises(DocumentError, match="different receipt"):
            agent().upload("t", "query", "a.example")
        assert agent().withdraw() == 1


def test_a_list_that_has_not_expired_is_accepted(agent, fake):
    fake.publish_list(expires=int(time.time()) + 100)
    assert agent().take_part("query 1").arrived


def test_a_list_that_is_too_long_is_refused(agent, fake, monkeypatch):
    monkeypatch.setattr(verification, "MAX_QUERIES", 4)
    with pytest.raises(DocumentError, match="more than 4 queries"):
        agent().take_part("query 1")


def test_a_list_signed_by_another_key_is_refused(agent, fake, tmp_path):
    with pytest.raises(DocumentError, match="not signed by the pinned key"):
        agent(key=Signer.load(tmp_path / "other.pem").public).take_part("query 1")
    assert not fake.posted


@pytest.mark.parametrize("tamper", ["content", "kind", "signature", "nonsense", "deep"])
def test_a_list_that_was_tampered_with_is_refused(agent, fake, tamper):
    body = json.loads(fake.documents[fake.state["head_list"]])
    if tamper == "content":
        body["content"]["head_list"]["channel"]["subset_size"] = 2
    if tamper == "kind":
        body["kind"] = "bundle"
    if tamper == "signature":
        body["signature"] = "AAAA"
    text = {"nonsense": b"[]", "deep": b"[" * 100_000}.get(tamper, json.dumps(body).encode())
    fake.documents[document_digest(text)] = text
    fake.state["head_list"] = document_digest(text)
    with pytest.raises(DocumentError, match="not signed by the pinned key"):
        agent().take_part("query 1")
    assert not fake.posted


def test_another_kind_of_document_is_refused(agent, fake):
    fake.state["head_list"] = fake.publish("bundle", {})
    with pytest.raises(DocumentError, match="as 'head-list'"):
        agent().take_part("query 1")


def test_a_document_that_does_not_match_its_digest_is_refused(agent, fake):
    name = fake.state["head_list"]
    fake.documents["0" * 64] = fake.documents[name]
    fake.state["head_list"] = "0" * 64
    with pytest.raises(DocumentError, match="does not match the digest"):
        agent().take_part("query 1")


def test_an_endless_document_is_refused(agent, collector):
    collector._document_bytes = 100
    with pytest.raises(StateError, match="more than 100 bytes"):
        agent().take_part("query 1")


def test_a_list_of_an_older_round_is_refused(agent, fake):
    fake.publish_list(round=5)
    agent().take_part("query 1")
    fake.state["id"] = "2" * 32
    for number in (4, 5):  # another round with the same number would be a second report in one round
        fake.publish_list(round=number)
        with pytest.raises(DocumentError, match="older round"):
            agent().take_part("query 1")
    fake.publish_list(round=6)
    assert agent().take_part("query 1").arrived


@pytest.mark.parametrize("answer", [{}, [], 7, {"round": 1}, {"round": {}}])
def test_an_invalid_pointer_is_refused(tmp_path, client, answer):
    device = Agent(tmp_path, client(lambda _: Answer(json=answer)), key=KEY, **PINNED)
    for act in (lambda: device.take_part("query 1"), lambda: device.upload("t", "query", "a.example")):
        with pytest.raises(DocumentError):
            act()
