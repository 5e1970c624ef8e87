"""Uploads of opt-in users' records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from blender_dp.errors import DocumentError, StateError
from blender_dp_device.agent.account import Uploaded
from blender_dp_device.agent.client import CollectorClient
from blender_dp_device.records import canonical, personal
from tests.device.agent.fake_collector import next_round
from tests.device.agent.http_server import Answer


def _noted(function: Callable[..., Any], note: Callable[[], None]) -> Callable[..., Any]:
    def noted(*values: Any) -> Any:
        note()
        return function(*values)

    return noted


class TestRecords:
    """What an opt-in user's device does."""

    @pytest.fixture(autouse=True)
    def open(self, fake) -> None:
        fake.state["state"] = "open"

    def test_upload_and_withdraw(self, agent, fake):
        made = agent().upload("t" * 64, " Query ", "Site.example?utm_source=x")
        assert json.loads(fake.posted[0]) == {"query": "query", "url": "https://site.example/", "receipt": made.receipt}
        assert fake.requests[-1].headers["authorization"] == "Bearer " + "t" * 64
        assert [request for request in fake.requests[:-1] if "authorization" in request.headers] == []
        assert agent().uploaded == [made] == [Uploaded("c" * 32, "1" * 32, made.receipt, 1, "4", "1/1000000")]
        assert re.fullmatch("[0-9a-f]{64}", made.receipt)
        assert (agent().spent, agent().left) == (4, 4)
        agent().opt_out()
        assert agent().withdraw() == 1
        assert fake.requests[-1].path == f"/v1/records/{made.receipt}"
        assert (agent().uploaded, agent().withdraw()) == ([replace(made, withdrawn=True, stopped=True)], 0)
        assert agent().left == 4  # the collector has seen it

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
    def test_an_unusable_record_is_uploaded_as_no_record(self, agent, fake, query, url):
        """The number of opt-in users is public, and must not depend on anyone's record."""
        made = agent().upload("t", query, url)
        assert json.loads(fake.posted[0]) == {"query": None, "url": None, "receipt": made.receipt}
        assert (agent().uploaded, agent().left) == ([made], 4)
        fake.state["state"] = "listed"
        assert agent().take_part(query, url) is None

    def test_all_uploads_have_the_same_length(self, agent, fake):
        records = [
            (None, None), ("a", "a.example"), ("é" * 300, "b.example/🦊"), ("x" * 2_000, "c.example"), ("x" * 9_999, "d"),
            ('a"b\\c' * 100, "e.example/\"\"\\"), ("joe@example.com", "f.example"), ("\u2028\n\x1f\x7f", "g.example"),
        ]  # fmt: skip
        for query, url in records:
            agent().upload("t" * 64, query, url)
        assert len({len(body) for body in fake.posted}) == 1
        lengths = {len(request.target + str(request.headers)) for request in fake.requests if request.content}
        assert len(lengths) == 1
        assert sum(json.loads(body)["query"] is not None for body in fake.posted) == 4

    @pytest.mark.parametrize("state", ["open", "listed"])
    def test_the_record_is_parsed_before_any_request(self, agent, fake, monkeypatch, state):
        """How long that takes depends on the record, and the server sees the time between two requests."""
        fake.state["state"] = state
        raw, requests = "HTTPS://A.example:443/%7Ejoe?utm_source=x", []
        for module, name in ((canonical, "canonical_query"), (canonical, "_url_step"), (personal, "looks_personal")):
            monkeypatch.setattr(module, name, _noted(getattr(module, name), lambda: requests.append(len(fake.requests))))
        assert agent().upload("t", "Query 1", raw) if state == "open" else agent().take_part("Query 1", raw)
        assert set(requests) == {0}
        assert len(requests) >= 3

    @pytest.mark.parametrize("state", ["open", "listed"])
    @pytest.mark.parametrize("raw", ["x" * 10_000_000, "https://a.example/" + "%3" * 5_000_000, "\ufdfa" * 1_000_000])
    def test_huge_strings_are_not_parsed(self, agent, fake, state, raw):
        fake.state["state"] = state
        assert agent().upload("t", raw, raw) if state == "open" else agent().take_part(raw, raw)

    def test_the_longest_record_fits(self, agent, fake):
        room = 2_048 - len('["", "https://a.example/"]')
        for length in (room, room + 1):
            agent().upload("t", "x" * length, "a.example")
        assert [json.loads(body)["query"] is None for body in fake.posted] == [False, True]

    def test_no_round_is_open(self, agent, fake):
        fake.state["state"] = "listed"
        assert agent().upload("t", "query", "a.example") is None
        fake.state["state"] = "open"
        agent().opt_out()
        assert agent().upload("t", "query", "a.example") is None
        assert not fake.posted

    def test_a_second_upload_has_the_same_receipt(self, agent, fake):
        """Whichever of them has arrived, the receipt withdraws it."""
        first = agent().upload("t", "query", "a.example")
        assert agent().upload("t", "other", "a.example") == first
        assert [json.loads(body)["query"] for body in fake.posted] == ["query", "other"]
        assert agent().uploaded == [first]
        assert agent().left == 4  # charged once

    def test_after_a_withdrawal_the_device_does_not_participate_in_the_round(self, agent, fake):
        first = agent().upload("t", "query", "a.example")
        assert agent().withdraw() == 1
        assert agent().upload("t", "query", "a.example") is None
        fake.state["state"] = "listed"
        assert agent().take_part("query 1") is None
        assert len(fake.posted) == 1
        next_round(fake, 2)
        fake.publish_opening(round=2)
        fake.state["state"] = "open"
        assert agent().upload("t", "query", "a.example").receipt != first.receipt

    def test_an_upload_that_may_have_arrived_prevents_a_report(self, agent, fake):
        """Nobody is in both groups: the account has the upload and its receipt before it leaves."""
        fake.lost = True
        with pytest.raises(StateError, match="does not respond"):
            agent().upload("t", "query", "a.example")
        fake.lost = False
        (made,) = agent().uploaded
        assert json.loads(fake.posted[0])["receipt"] == made.receipt
        fake.state["state"] = "listed"
        assert agent().take_part("query 1") is None
        assert len(fake.posted) == 1
        assert agent().withdraw() == 1
        assert (fake.records, agent().uploaded) == ({}, [replace(made, withdrawn=True, stopped=True)])
        assert agent().take_part("query 1") is None

    def test_the_account_is_written_before_an_upload_leaves(self, agent, monkeypatch):
        def crashes(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(CollectorClient, "post_bytes", crashes)
        with pytest.raises(KeyboardInterrupt):
            agent().upload("t", "query", "a.example")
        assert (len(agent().uploaded), agent().left) == (1, 4)

    @pytest.mark.parametrize("status", [403, 404, 409, 422, 429, 500, 503])
    def test_a_refused_upload_still_prevents_a_report(self, agent, fake, status):
        """A hostile collector may let the refusal depend on the record; the group must not."""
        answer = fake.answer
        fake.answer = lambda request: Answer(status) if request.method == "POST" else answer(request)
        with pytest.raises(StateError):
            agent().upload("t", "query", "a.example")
        fake.answer = answer
        fake.state["state"] = "listed"
        assert agent().take_part("query 1") is None
        assert (len(agent().uploaded), agent().left) == (1, 4)

    def test_a_response_with_another_receipt_is_refused(self, agent, fake):
        fake.receipt = "f" * 64
        with pytest.raises(DocumentError, match="different receipt"):
            agent().upload("t", "query", "a.example")
        assert agent().uploaded[0].receipt != "f" * 64
        assert agent().withdraw() == 1

    def test_opting_out_during_a_request(self, agent, fake):
        answer = fake.answer

        def then_opt_out(request):
            agent().opt_out()
            return answer(request)

        fake.answer = then_opt_out
        assert agent().upload("t", "query", "a.example") is None
        assert (fake.posted, agent().uploaded) == ([], [])

    def test_too_late_to_withdraw(self, agent, fake):
        made = agent().upload("t", "query", "a.example")
        fake.records.clear()
        assert agent().withdraw() == 0
        assert agent().uploaded == [replace(made, stopped=True)]

    def test_a_full_disk_prevents_no_withdrawal(self, agent, fake, monkeypatch):
        device = agent()
        made = device.upload("t", "query", "a.example")
        monkeypatch.setattr(device._file, "save", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space"):
            device.withdraw()
        assert (fake.records, agent().uploaded) == ({}, [made])
