"""A device believes nothing but its own settings and what the pinned key has signed."""

from __future__ import annotations

import json
import time
from fractions import Fraction

import httpx
import pytest
import sqlalchemy as sa

from blender_dp.collector.documents import Signer, digest
from blender_dp.collector.schema import reports
from blender_dp.devices import Agent, CollectorClient
from blender_dp.devices import agent as module
from blender_dp.errors import BlenderError, DocumentError, StateError
from blender_dp.records.head_list import HeadList
from tests.collector_http.conftest import RECORDS, listening


class Liar:
    """A collector of which every answer can be replaced; it signs with a key of its own."""

    def __init__(self, folder, **changed) -> None:
        self.signer = Signer.load(folder / "signing-key.pem")
        self.head_list = HeadList.of(RECORDS)
        self.state = {"id": "1" * 32, "state": "listed", "head_list": None, "bundle": None}
        self.released = None
        self.documents: dict[str, bytes] = {}
        self.got: list[bytes] = []
        self.down = False
        self.lost = False
        self.refused: list[dict[str, object]] = []
        self.publish_list(**changed)

    def publish_list(self, **changed) -> None:
        content = {
            "campaign": "c" * 32, "round": 1, "round_id": self.state["id"], "head_list": self.head_list.to_document(),
            "digest": self.head_list.digest, "f_c": "0.85", "subset_size": 1, "epsilon": "4", "expires": 1 << 40,
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
        if self.down:
            raise httpx.ConnectError("down")
        if request.url.path == "/v1/rounds/current":
            return httpx.Response(200, json={"key": "x", "round": self.state, "released": self.released})
        if request.method == "POST":
            self.got.append(request.content)
            if self.lost:
                raise httpx.ReadTimeout("lost")
            return httpx.Response(200, json={"refused": self.refused})
        return httpx.Response(200, content=self.documents[request.url.path.rpartition("/")[2]])


@pytest.fixture
def liar(tmp_path) -> Liar:
    return Liar(tmp_path / "collector")


@pytest.fixture
def agent(tmp_path, liar):
    def made(**changed) -> Agent:
        collector = CollectorClient("http://collector", transport=httpx.MockTransport(liar.answer))
        settings = {"key": liar.signer.public, "epsilon": "4", "lifetime_epsilon": "8", **changed}
        return Agent(tmp_path / "device", collector, **settings)

    return made


def test_a_live_collector(tmp_path):
    with listening(tmp_path / "data") as live:
        listed = live.listed(live.campaign())
        collector = CollectorClient(live.url)
        device = Agent(tmp_path / "device", collector, key=live.service.signer.public, epsilon=4, lifetime_epsilon=4)
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
    assert device.search("query")  # the collector is gone


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
        ({"epsilon": "8"}, "another ε"),
        ({"epsilon": "2"}, "another ε"),
        ({"round_id": "2" * 32}, "not the list of this round"),
        ({"digest": "0" * 64}, "not the list of this round"),
        ({"expires": 1}, "has expired"),
        ({"expires": None}, "does not say when it expires"),
        ({"expires": "never"}, None),
        ({"head_list": {"schema": "blender-dp/head-list/2"}}, None),
        ({"head_list": None}, None),
        ({"epsilon": None}, None),
        ({"round": None}, None),
        ({"f_c": "2"}, None),
        ({"subset_size": 0}, None),
    ],
)
def test_lists_that_are_refused(agent, liar, changed, said):
    liar.publish_list(**changed)
    with pytest.raises(BlenderError, match=said):
        agent().take_part("query 1", "https://site1.example/")
    assert not liar.got
    assert agent().left == 8


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
        body["content"]["subset_size"] = 2
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
    with pytest.raises(DocumentError, match="is no head-list"):
        agent().take_part("query 1")


def test_a_document_that_is_not_what_its_name_says(agent, liar):
    name = liar.state["head_list"]
    liar.documents["0" * 64] = liar.documents[name]
    liar.state["head_list"] = "0" * 64
    with pytest.raises(DocumentError, match="not what its name says"):
        agent().take_part("query 1")


def test_a_document_without_end(agent, liar, monkeypatch):
    monkeypatch.setattr("blender_dp.devices.collector._MOST_BYTES", 100)
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
    device = Agent(tmp_path, CollectorClient("http://x", transport=transport), key="", epsilon=4, lifetime_epsilon=4)
    with pytest.raises(DocumentError):
        device.take_part("query 1")


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


def test_a_refused_report_stays_charged(agent, liar):
    liar.refused = [{"index": 0, "reason": "another head list"}]
    with pytest.raises(StateError, match="refused"):
        agent().take_part("query 1")
    assert agent().left == 4
    assert not agent().sent[0].arrived


def test_all_reports_have_one_length(tmp_path, liar):
    liar.head_list = HeadList.of([(f"query {i}", f"https://site{i}.example/") for i in range(300)])
    liar.publish_list(subset_size=3)
    for i in range(40):
        collector = CollectorClient("http://collector", transport=httpx.MockTransport(liar.answer))
        device = Agent(tmp_path / f"{i}", collector, key=liar.signer.public, epsilon=4, lifetime_epsilon=4)
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
    assert not liar.got


@pytest.mark.parametrize("text", ["", "{", "{}", '{"sent": [{}], "opted_out": false, "newest": {}, "bundles": {}}'])
def test_an_account_that_cannot_be_read_is_not_begun_anew(agent, tmp_path, text):
    agent()
    (tmp_path / "device/account.json").write_text(text)
    with pytest.raises(DocumentError):
        agent()


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
        liar.publish_bundle(1, campaign="d" * 32)
        agent().refresh_bundle()
        liar.publish_bundle(1)
        with pytest.raises(DocumentError, match="older"):  # another campaign in between does not help
            agent().refresh_bundle()

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
