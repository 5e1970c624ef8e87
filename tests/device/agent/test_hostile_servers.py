"""Whatever a server responds, a device sends nothing that the pinned key and its own settings do not allow."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from blender_dp.collector.secrets.signing import Signer
from blender_dp.errors import BlenderError, DocumentError, ParameterError, StateError
from blender_dp_device.agent.agent import Agent
from blender_dp_device.digests import document_digest
from tests.device.agent.fake_collector import KEY, FakeCollector, next_round
from tests.device.agent.http_server import Answer
from tests.device.agent.secret_uploads import SECRETS, nothing_left, upload


@pytest.fixture
def fake(fake) -> FakeCollector:
    """A collector whose round is open."""
    fake.state["state"] = "open"
    return fake


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": "8"}, "different ε"),
        ({"epsilon": "1"}, "different ε"),
        ({"epsilon": "4.0000000001"}, "different ε"),
        ({"delta": "1.1e-6"}, "larger δ"),
        ({"delta": "1"}, "larger δ"),
        ({"campaign": "d" * 32}, "another campaign"),
        ({"round_id": "2" * 32}, "another round"),
        ({"expires": 1}, "has expired"),
        ({"expires": None}, "shape"),
        ({"expires": "never"}, "shape"),
        ({"expires": True}, "shape"),
        ({"expires": 1e300}, "shape"),
        ({"expires": 1 << 50}, "shape"),
        ({"round": 0}, "shape"),
        ({"round": -1}, "shape"),
        ({"round": True}, "shape"),
        ({"round": "1"}, "shape"),
        ({"round": 1 << 50}, "shape"),
        ({"epsilon": 4}, "shape"),
        ({"epsilon": None}, "shape"),
        ({"epsilon": "1e400000000"}, "shape"),
        ({"delta": 1e-6}, "shape"),
        ({"delta": None}, "shape"),
        ({"delta": "-1"}, "shape"),
        ({"delta": "1e-400000000"}, "shape"),
    ],
)
def test_signed_openings_that_are_refused(agent, fake, changed, message):
    fake.publish_opening(**changed)
    with pytest.raises(DocumentError, match=message):
        upload(agent())
    assert nothing_left(agent(), fake)


@pytest.mark.parametrize("field", ["campaign", "round", "round_id", "epsilon", "delta", "expires"])
def test_an_opening_with_a_missing_field_is_refused(agent, fake, field):
    content = json.loads(fake.documents[fake.state["opening"]])["content"]
    del content[field]
    fake.state["opening"] = fake.publish("opening", content)
    with pytest.raises(DocumentError, match="shape"):
        upload(agent())
    assert nothing_left(agent(), fake)


@pytest.mark.parametrize("delta", ["1e-6", "1/1000000", "1e-9", "0"])
def test_a_smaller_delta_is_accepted(agent, fake, delta):
    fake.publish_opening(delta=delta, epsilon="4.0")
    assert upload(agent())


@pytest.mark.parametrize("wrong", [None, "", "0" * 63, "../rounds", 7, "0" * 64])
def test_a_round_without_an_opening(agent, fake, wrong):
    """From an earlier version, or from a server that tries to avoid it."""
    fake.state["opening"] = wrong
    fake.documents["0" * 64] = b"{}"
    with pytest.raises(DocumentError):
        upload(agent())
    del fake.state["opening"]
    with pytest.raises(DocumentError):
        upload(agent())
    assert nothing_left(agent(), fake)


def test_another_key_six_rounds_in_a_row(tmp_path, agent, fake):
    """A server with its own key, and an unsigned pointer."""
    pinned = Signer.load(tmp_path / "pinned.pem").public
    for number in range(1, 7):
        next_round(fake, number)
        fake.publish_opening(round=number)
        for act in (upload, lambda device: device.take_part(*SECRETS[:2]), lambda device: device.refresh_bundle()):
            fake.publish_bundle(number)
            fake.state["state"] = "open" if act is upload else "listed"
            with pytest.raises(DocumentError, match="not signed by the pinned key"):
                act(agent(key=pinned))
    assert nothing_left(agent(key=pinned), fake)


@pytest.mark.parametrize("tamper", ["content", "kind", "signature", "unsigned", "nonsense", "deep", "digest"])
def test_an_opening_that_was_tampered_with(agent, fake, tamper):
    body = json.loads(fake.documents[fake.state["opening"]])
    if tamper == "content":
        body["content"]["expires"] -= 1
    if tamper == "kind":
        body["kind"] = "head-list"
    if tamper == "signature":
        body["signature"] = base64.b64encode(bytes(64)).decode()
    if tamper == "unsigned":
        del body["signature"]
    text = {"nonsense": b"[]", "deep": b"[" * 100_000}.get(tamper, json.dumps(body).encode())
    name = document_digest(text) if tamper != "digest" else "0" * 64
    fake.documents[name] = text
    fake.state["opening"] = name
    with pytest.raises(DocumentError, match="does not match the digest" if tamper == "digest" else "not signed"):
        upload(agent())
    assert nothing_left(agent(), fake)


@pytest.mark.parametrize("kind", ["head-list", "bundle", "release"])
def test_another_signed_document_in_its_place(agent, fake, kind):
    content = json.loads(fake.documents[fake.state["opening"]])["content"]
    fake.state["opening"] = fake.publish(kind, content)
    with pytest.raises(DocumentError, match="as 'opening'"):
        upload(agent())
    fake.state["head_list"] = fake.publish("opening", content)
    fake.state["state"] = "listed"
    with pytest.raises(DocumentError, match="as 'head-list'"):
        agent().take_part(*SECRETS[:2])
    assert nothing_left(agent(), fake)


class TestRedirects:
    """No method of sending follows a redirect."""

    METHODS: ClassVar[dict[str, Callable[[Agent], Any]]] = {
        "take part": lambda device: device.take_part("query 1"),
        "upload": upload,
        "withdraw": lambda device: device.withdraw(),
        "refresh": lambda device: device.refresh_bundle(),
    }

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    @pytest.mark.parametrize("name", METHODS)
    @pytest.mark.parametrize("where", ["https://elsewhere/", "/elsewhere"])
    def test_none_is_followed(self, agent, fake, name, status, where):
        fake.publish_bundle(1)
        if name == "withdraw":
            upload(agent())
        fake.state["state"] = "listed" if name == "take part" else "open"
        answer, seen = fake.answer, []

        def astray(request, until: str) -> Answer:
            seen.append((request.headers["host"], request.path))
            return Answer(status, headers={"Location": where}) if until in request.path else answer(request)

        for until in ("/v1/rounds/current", "/v1/openings/", "/v1/head-lists/", "/v1/bundles/", "/records", "/reports"):
            fake.answer = lambda request, until=until: astray(request, until)
            with contextlib.suppress(BlenderError):
                self.METHODS[name](agent())
        assert len({host for host, _ in seen}) == 1
        assert not any("elsewhere" in path for _, path in seen)


def test_old_reports_are_sent_unchanged_to_their_own_round(agent, fake):
    """A server that claims that they were lost gets the same bytes, and nothing new."""
    fake.state["state"], fake.lost = "listed", True
    with pytest.raises(StateError):
        agent().take_part("query 1")
    fake.lost, first = False, fake.posted[0]
    fake.refused = [{"index": 0, "reason": "another head list"}]
    fake.state = {**fake.state, "state": "open", "id": "9" * 32}
    for _ in range(4):
        agent().take_part(*SECRETS[:2])
    assert {*fake.posted} == {first}
    assert {one.path for one in fake.requests if one.method == "POST"} == {f"/v1/rounds/{'1' * 32}/reports"}
    assert agent().left == 4


def test_withdrawing_shows_the_receipt_and_nothing_else(agent, fake):
    made = upload(agent())
    before = len(fake.requests)
    for status in (401, 403, 500, 301):
        fake.answer, answer = lambda request, s=status: (fake.requests.append(request), Answer(s))[1], fake.answer
        with pytest.raises(StateError):
            agent().withdraw()
        fake.answer = answer
        assert [one.withdrawn for one in agent().uploaded] == [False]
    assert agent().withdraw() == 1
    for request in fake.requests[before:]:
        assert (request.method, request.path, request.content) == ("DELETE", f"/v1/records/{made.receipt}", b"")
        assert not any(secret in str(request.headers) for secret in SECRETS)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        *[({"key": key}, "key") for key in ("", "x", KEY[:-4], KEY + "=", KEY + KEY, "ä" * 44, " " + KEY, None, b"x", 7)],
        *[({"campaign": one}, "campaign") for one in ("", "searches", "C" * 32, "c" * 31, "c" * 32 + "\n", None, 7)],
        *[({"epsilon": one}, "epsilon") for one in (0, -1, "nan", None, "x", True)],
        *[({"delta": one}, "delta") for one in (0, 1, -1, "nan", "x", True)],
        *[({"lifetime_epsilon": one}, "lifetime_epsilon") for one in (-1, "nan", None, "x")],
        *[({"least_seconds": one}, "least_seconds") for one in (-1, float("nan"), "x", None)],
    ],
)
def test_invalid_settings_are_refused(agent, tmp_path, changed, field):
    """A mistake must be reported at once, and must not look like a dishonest collector."""
    with pytest.raises(ParameterError, match=field):
        agent(**changed)
    assert not (tmp_path / "device").exists()
