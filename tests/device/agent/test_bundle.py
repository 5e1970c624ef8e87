"""The bundle for offline search."""

from __future__ import annotations

import threading

import pytest

from blender_dp.collector.secrets.signing import Signer
from blender_dp.errors import DocumentError, StateError
from blender_dp_device.agent.agent import Agent


class TestBundle:
    def test_search_without_a_connection(self, agent, fake):
        assert agent().search("query") == []
        fake.publish_bundle(1)
        agent().refresh_bundle()
        fake.down = True
        assert [row["query"] for row in agent().search(" QUERY ")] == ["query 1"]
        assert agent().search("else") == []
        with pytest.raises(StateError, match="does not respond"):
            agent().refresh_bundle()

    def test_nothing_is_released(self, agent):
        agent().refresh_bundle()
        assert agent().search("query") == []

    def test_an_older_bundle_is_refused(self, agent, fake):
        fake.publish_bundle(2)
        agent().refresh_bundle()
        fake.publish_bundle(1)
        with pytest.raises(DocumentError, match="older"):
            agent().refresh_bundle()
        assert agent().search("query")[0]["query"] == "query 2"
        fake.publish_bundle(3, campaign="d" * 32)
        with pytest.raises(DocumentError, match="another campaign"):
            agent().refresh_bundle()
        agent(campaign="d" * 32).refresh_bundle()
        assert agent().search("query") == []  # the stored one belongs to the other campaign
        fake.publish_bundle(1)
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
    def test_a_bundle_of_another_shape_is_refused(self, agent, fake, tmp_path, row):
        rows = [{"query": "query", "share": 0.5, "urls": [["https://a.example/", 0.5]]} | row]
        name = fake.publish("bundle", {"campaign": "c" * 32, "round": 1, "queries": rows})
        fake.released = {"id": "1" * 32, "state": "released", "head_list": None, "bundle": name}
        with pytest.raises(DocumentError, match="shape"):
            agent().refresh_bundle()
        assert agent().search("query") == []
        (tmp_path / "device/bundle.json").write_bytes(fake.documents[name])  # of an earlier version
        for use in (lambda: agent().search("q"), lambda: agent().suggestions("q"), lambda: agent().index()):
            with pytest.raises(DocumentError, match="shape"):
                use()

    @pytest.mark.parametrize("number", [0, "1", 1.5, None, True])
    def test_a_bundle_with_an_invalid_round_number_is_refused(self, agent, fake, number):
        fake.publish_bundle(number)
        with pytest.raises(DocumentError, match="shape"):
            agent().refresh_bundle()

    def test_the_index_belongs_to_the_stored_bundle(self, agent, fake, monkeypatch):
        """Another process tries to fetch a newer one while the index is built."""
        fake.publish_bundle(1)
        agent().refresh_bundle()
        fake.publish_bundle(2)
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

    def test_a_bundle_that_was_tampered_with_in_transit_is_refused(self, agent, fake):
        fake.publish_bundle(1)
        name = fake.released["bundle"]
        fake.documents[name] = fake.documents[name].replace(b"query 1", b"query 9")
        with pytest.raises(DocumentError, match="does not match the digest"):
            agent().refresh_bundle()

    def test_a_bundle_that_was_tampered_with_on_disk_is_refused(self, agent, fake, tmp_path):
        fake.publish_bundle(1)
        agent().refresh_bundle()
        path = tmp_path / "device/bundle.json"
        path.write_bytes(path.read_bytes().replace(b"query 1", b"query 9"))
        with pytest.raises(DocumentError, match="not signed"):
            agent().search("query")

    def test_a_bundle_signed_by_another_key_is_refused(self, agent, fake, tmp_path):
        fake.publish_bundle(1)
        with pytest.raises(DocumentError, match="not signed"):
            agent(key=Signer.load(tmp_path / "other.pem").public).refresh_bundle()
        assert agent().search("query") == []
