"""Spending needs confirmation: `round make-list` shows the cost and waits for a yes; `round list` changes nothing."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import time

import pytest

from tests.collector_http.test_operate import command  # noqa: F401 (a fixture)
from tests.collector_http.warm_process import started


def in_a_terminal(live, typed: bytes | int, *words: str) -> tuple[int, str, str]:
    """Run a subcommand in a terminal and type a response, or send a signal; return exit code, output and terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "BLENDER_DP_URL": live.url, "BLENDER_DP_TOKEN": live.token}
    with started(words, environment, stdin=theirs, stderr=theirs) as one:
        os.close(theirs)
        shown = b""
        while b"Spend it?" not in shown:
            shown += os.read(ours, 4096)
        if isinstance(typed, bytes):
            os.write(ours, typed)
        else:
            time.sleep(0.3)
            one.send_signal(typed)
        printed = one.stdout.read()
        code = one.wait(120)
    try:
        while more := os.read(ours, 4096):
            shown += more
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return code, printed, shown.decode()


def ready_to_list(live, **settings) -> str:
    campaign = live.campaign(name="searches", **settings)
    round_id = live.opened(campaign)
    for i, token in enumerate(live.enrolled(campaign, 150)):
        live.upload(round_id, token, f"query {i % 3}", "https://one.example/")
    return round_id


def state(live, round_id: str) -> str:
    return live.operator("GET", f"/v1/operator/rounds/{round_id}")["state"]


@pytest.mark.parametrize(("typed", "code"), [(b"n\n", 2), (b"\n", 2), (b"\x04", 2), (signal.SIGINT, 130)])
def test_without_confirmation_nothing_is_spent(live, typed, code):
    round_id = ready_to_list(live)
    found, printed, shown = in_a_terminal(live, typed, "round", "make-list")
    assert (found, printed) == (code, ""), shown
    assert state(live, round_id) == "open"
    assert live.operator("GET", "/v1/ledger") == []


def test_it_shows_the_cost_and_spends_after_confirmation(live):
    round_id = ready_to_list(live, max_epsilon="10", max_delta="1e-5", period_epsilon="8", period_days=7)
    code, printed, shown = in_a_terminal(live, b"y\n", "round", "make-list", "--json")
    assert (code, json.loads(printed)["state"]) == (0, "listed"), shown
    assert "Making the list of round 1 of searches permanently spends" in shown
    rows = [re.split(r" {2,}", line.strip()) for line in shown.splitlines()]
    for row in (
        ["opt-in", "ε", "4", "0", "4", "10"],
        ["opt-in", "δ", "0.000001", "0", "0.000001", "0.00001"],
        ["opt-in", "ε in 7 days", "4", "0", "4", "8"],
        ["client", "ε", "4", "0", "4", "10"],
        ["client", "δ", "0", "0", "0", "0.00001"],
    ):
        assert row in rows, shown
    assert state(live, round_id) == "listed"


def test_without_a_terminal_the_flag_is_required(live, command):  # noqa: F811
    round_id = ready_to_list(live)
    code, printed, message = command("round", "make-list")
    assert (code, printed) == (2, "")
    assert "--yes" in message
    assert state(live, round_id) == "open"
    code, printed, _ = command("round", "make-list", "--yes", "--json")
    assert (code, json.loads(printed)["state"]) == (0, "listed")
    code, printed, _ = command("round", "make-list", "--json")  # nothing is left to spend, so there is no prompt
    assert (code, json.loads(printed)["state"]) == (0, "listed")


def test_listing_rounds_spends_nothing(live, command):  # noqa: F811
    round_id = ready_to_list(live)
    other = live.opened(live.campaign(name="other"))
    for words in ((), ("--campaign", "searches"), ("--json",), ("-n", "1")):
        assert command("round", "list", *words)[0] == 0
    assert (state(live, round_id), live.operator("GET", "/v1/ledger")) == ("open", [])
    listed = json.loads(command("round", "list", "--json")[1])
    assert [(one["id"], one["campaign_name"], one["number"]) for one in listed] == [
        (other, "other", 1), (round_id, "searches", 1),
    ]  # fmt: skip
    assert len(json.loads(command("round", "list", "-n", "1", "--json")[1])) == 1
    assert json.loads(command("round", "show", round_id, "--json")[1])["id"] == round_id


def test_many_rounds_come_page_by_page(live, command, monkeypatch):  # noqa: F811
    monkeypatch.setattr("blender_dp.cli.round._PAGE", 2)
    campaign = live.campaign()
    for _ in range(5):
        live.operator("POST", f"/v1/operator/rounds/{live.opened(campaign)}/abort", json={"reason": "over"})
    for limit, numbers in (("3", [5, 4, 3]), ("4", [5, 4, 3, 2]), ("20", [5, 4, 3, 2, 1])):
        listed = json.loads(command("round", "list", "-n", limit, "--json")[1])
        assert [one["number"] for one in listed] == numbers


def test_times_are_iso_8601(live, command):  # noqa: F811
    live.campaign(name="searches")
    words = ("--lists-at", "2033-05-18T05:33:20+02:00", "--closes-at", "2033-05-19T03:33:20Z")
    code, printed, message = command("round", "open", "searches", *words, "--json")
    assert code == 0, message
    opened = json.loads(printed)
    assert (opened["lists_at"], opened["closes_at"]) == ("2033-05-18T03:33:20Z", "2033-05-19T03:33:20Z")
    assert live.operator("GET", f"/v1/operator/rounds/{opened['id']}")["lists_at"] == 2_000_000_000
    for shown in (command("round", "show")[1], command("round", "list")[1]):
        assert "2033-05-18T03:33:20Z" in "".join(shown.split())
    (listed,) = json.loads(command("round", "list", "--json")[1])
    assert listed["lists_at"] == "2033-05-18T03:33:20Z"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:00:00Z", listed["opened"])


@pytest.mark.parametrize("flag", ["--lists-at", "--closes-at"])
@pytest.mark.parametrize(
    ("time", "message"),
    [
        ("2033-05-18T05:33:20", "has no time zone"),
        ("2033-05-18", "has no time zone"),
        ("tomorrow", "is not an ISO 8601 time"),
        ("2000000000", "is not an ISO 8601 time"),
    ],
)
def test_an_ambiguous_time_is_refused(command, flag, time, message):  # noqa: F811
    code, _, stderr = command("round", "open", "searches", flag, time)
    assert (code, message in " ".join(stderr.split())) == (2, True)
    assert "2026-12-01T09:00:00Z" in " ".join(stderr.split())


def test_the_ledger_names_campaigns_and_shows_what_is_left(live, command):  # noqa: F811
    live.listed(live.campaign(name="searches", max_epsilon="10", max_delta="1e-5"))
    live.campaign(name="other", max_epsilon="unlimited")
    document = json.loads(command("ledger", "--json")[1])
    assert [(one["campaign_name"], one["group"]) for one in document["entries"]] == [
        ("searches", "opt-in"),
        ("searches", "client"),
    ]
    left = {(one["name"], line["group"], line["limit"]): line for one in document["campaigns"] for line in one["budget"]}
    assert left["searches", "opt-in", "max_epsilon"] == {
        "group": "opt-in", "limit": "max_epsilon", "days": None,
        "next_round": "4", "spent": "4", "after": "8", "most": "10", "remaining": "6",
    }  # fmt: skip
    assert left["searches", "opt-in", "max_delta"]["remaining"] == "0.000009"
    assert left["searches", "client", "max_delta"]["remaining"] == "0.00001"
    assert left["other", "opt-in", "max_epsilon"]["remaining"] is None
    assert left["other", "client", "max_epsilon"]["spent"] == "0"
    shown = command("ledger")[1]
    for words in (r"1 +searches", r"searches +opt-in +ε +4 +10 +6", r"other +client +ε +0 +unlimited +unlimited"):
        assert re.search(words, shown), shown
    some = json.loads(command("ledger", "--campaign", "other", "--json")[1])
    assert (some["entries"], [one["name"] for one in some["campaigns"]]) == ([], ["other"])
    assert command("ledger", "--campaign", "third")[0] == 2
