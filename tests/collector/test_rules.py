"""The rules that decide what happens to a round, without a database."""

from __future__ import annotations

from typing import Any

import pytest

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.round_states import STATES
from blender_dp.collector.rounds import rules
from blender_dp.collector.rounds.spending import is_spent, may_not_list
from blender_dp.collector.secrets.ledger_chain import START, Entry
from blender_dp.collector.secrets.ledger_journal import DatedEntry
from blender_dp.collector.secrets.round_endings import Ending
from blender_dp.collector.storage.report_rows import EndedRound
from blender_dp.collector.storage.round_rows import Round

NOW = 1_700_000_000
HOUR = NOW // 3600 * 3600
DAY = 86_400


def a_round(**values: Any) -> Round:
    usual = dict.fromkeys(Round.__dataclass_fields__) | {"id": "r", "campaign": "c", "number": 1, "state": "open"}
    return Round(**{**usual, **values})


@pytest.mark.parametrize(("count", "is_refused"), [(0, True), (9, True), (10, False), (11, False)])
def test_a_group_is_large_enough_from_the_minimum_on(count, is_refused):
    assert bool(rules.too_few("reports", count, 10)) is is_refused


def test_a_group_that_is_too_small_is_reported_with_numbers():
    assert rules.too_few("opt-in users", 3, 10) == "too few opt-in users: 3, and the minimum is 10"


@pytest.mark.parametrize(
    ("lists_at", "closes_at", "is_refused"),
    [
        (None, None, False),
        (NOW + 99, None, False),
        (None, NOW + 599, True),
        (None, NOW + 600, False),
        (NOW - 5000, NOW + 599, True),
        (NOW + 1000, NOW + 1599, True),
        (NOW + 1000, NOW + 1600, False),
        (None, 0, True),
    ],
)
def test_a_round_must_accept_reports_for_ten_minutes(lists_at, closes_at, is_refused):
    assert bool(rules.closes_too_early(lists_at, closes_at, NOW)) is is_refused


@pytest.mark.parametrize(
    ("closes_at", "is_refused"), [(None, False), (NOW + 600, False), (NOW + 599, True), (NOW - 1, True)]
)
def test_no_list_is_made_too_late(closes_at, is_refused):
    assert bool(rules.too_late_to_list(closes_at, NOW)) is is_refused


@pytest.mark.parametrize("has_key", [True, False])
def test_an_open_round_without_its_key_is_lost(has_key):
    assert bool(rules.lost_key(has_key=has_key)) is not has_key


@pytest.mark.parametrize(("closes_at", "expiry"), [(None, HOUR + 30 * DAY), (NOW + 7, NOW + 7), (0, 0)])
def test_when_a_list_expires(closes_at, expiry):
    assert rules.list_expiry(closes_at, HOUR, 30) == expiry


@pytest.mark.parametrize(
    ("lists_at", "closes_at", "expiry"),
    [
        (None, None, HOUR + 30 * DAY),
        (HOUR + 5, None, HOUR + 5 + 30 * DAY),
        (HOUR - 5, None, HOUR + 30 * DAY),
        (HOUR + 5, HOUR + 99, HOUR + 99),
    ],
)
def test_when_an_opening_expires(lists_at, closes_at, expiry):
    assert rules.opening_expiry(lists_at, closes_at, HOUR, 30) == expiry


@pytest.mark.parametrize(
    ("values", "event"),
    [
        ({"state": "open"}, None),
        ({"state": "open", "lists_at": NOW}, "freeze"),
        ({"state": "open", "lists_at": NOW + 1}, None),
        ({"state": "open", "closes_at": NOW - 1}, None),
        ({"state": "open", "lists_at": NOW - 9, "refused_at": HOUR}, None),
        ({"state": "open", "lists_at": NOW - 9, "refused_at": HOUR - 3600}, "freeze"),
        ({"state": "listing", "lists_at": NOW - 9, "closes_at": NOW - 9}, None),
        ({"state": "listed", "lists_at": NOW - 9}, None),
        ({"state": "listed", "closes_at": NOW}, "close"),
        ({"state": "listed", "closes_at": NOW + 1}, None),
        ({"state": "listed", "closes_at": NOW - 9, "refused_at": HOUR}, None),
        ({"state": "closed", "closes_at": NOW - 9}, None),
        ({"state": "released", "closes_at": NOW - 9, "lists_at": NOW - 9}, None),
        ({"state": "aborted", "closes_at": NOW - 9, "lists_at": NOW - 9}, None),
    ],
)
def test_which_scheduled_step_is_due(values, event):
    assert rules.due_event(a_round(**values), NOW, HOUR) == event


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("end", [None, "released", "aborted"])
def test_a_round_that_has_ended_does_not_go_on(state, end):
    ending = Ending("r", end, "why") if end else None
    goes_on = end is None or state in {"released", "aborted"} or (end, state) == ("released", "closed")
    assert rules.has_ended_before(ending, state) is not goes_on


@pytest.mark.parametrize(
    ("state", "released_at", "keep_days", "may"),
    [
        ("aborted", None, 0, True),
        ("aborted", None, 9, True),
        ("released", NOW, 0, True),
        ("released", NOW + 9 * DAY, 0, True),  # the clock was set back
        ("released", NOW, 1, False),
        ("released", NOW - DAY + 1, 1, False),
        ("released", NOW - DAY, 1, True),
        ("released", None, 1, False),
        ("closed", None, 0, False),
        ("listed", None, 0, False),
    ],
)
def test_which_reports_may_be_deleted(state, released_at, keep_days, may):
    assert rules.may_delete_reports(EndedRound("r", state, released_at, keep_days), NOW) is may


@pytest.mark.parametrize(
    ("names", "states", "since", "unneeded"),
    [
        ([], {}, {}, []),
        (["a"], {"a": "open"}, {}, []),
        (["a"], {"a": "listing"}, {}, []),
        (["a"], {"a": "listed"}, {}, ["a"]),
        (["a", "b"], {"a": "aborted", "b": "open"}, {}, ["a"]),
        (["x"], {"a": "open"}, {}, []),  # its round may just be being opened
        (["x"], {"a": "open"}, {"x": NOW - DAY + 1}, []),
        (["x"], {"a": "open"}, {"x": NOW - DAY}, ["x"]),
        (["x"], {}, {"x": NOW - 9 * DAY}, []),  # a database without any round proves nothing
    ],
)
def test_which_keys_are_destroyed(names, states, since, unneeded):
    known = rules.keys_without_round(names, states, since, NOW)
    assert rules.unneeded_keys(names, states, known, NOW) == unneeded


@pytest.mark.parametrize(
    ("names", "states", "since", "known"),
    [
        (["x"], {"a": "open"}, {}, {"x": NOW}),
        (["x"], {"a": "open"}, {"x": 5}, {"x": 5}),
        (["x"], {"x": "open"}, {"x": 5}, {}),  # it had a round in between: the time starts again
        ([], {"a": "open"}, {"x": 5}, {}),
        (["x"], {}, {}, {}),
        (["x"], {}, {"x": 5}, {"x": 5}),
    ],
)
def test_since_when_a_key_has_no_round(names, states, since, known):
    assert rules.keys_without_round(names, states, since, NOW) == known


def entry(group: str, round_id: str = "r", campaign: str = "c") -> DatedEntry:
    return DatedEntry(HOUR, Entry(1, campaign, round_id, group, "4", "0", START))


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ([], None),
        ([entry("opt-in")], None),  # already spent by an interrupted transaction
        ([entry("opt-in"), entry("client")], "made before the database was restored"),
        ([entry("client")], "made before the database was restored"),
        ([entry("opt-in", "other")], "the budget of opt-in users is used up"),
        ([entry("opt-in", "other", "another campaign")], None),
        ([entry("opt-in", "other"), entry("opt-in")], None),
    ],
)
def test_whether_a_round_may_spend(entries, problem):
    settings = CampaignSettings(name="c", epsilon="4", delta="1e-6", max_epsilon="4")
    found = may_not_list(entries, a_round(), settings, NOW, {})
    assert (found is None) if problem is None else problem in (found or "")


def test_spending_is_identified_by_round_and_group():
    entries = [entry("opt-in")]
    assert is_spent(entries, "r", "opt-in")
    assert not is_spent(entries, "r", "client")
    assert not is_spent(entries, "other", "opt-in")
