"""The state table: complete, consistent, and the same in code, API and documentation."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import get_args

import pytest

from blender_dp.collector.round_states import (
    EXPORTABLE,
    GROUPS,
    MEANINGS,
    NEEDS_KEY,
    OVER,
    STATES,
    TRANSITIONS,
    UNDER_WAY,
    WORKED_ON,
    Event,
    as_markdown,
    states_after,
    transition,
)

ROOT = Path(__file__).parents[2]

NEXT = {
    (None, "open"): "open",
    ("open", "freeze"): "listing",
    ("listing", "list"): "listed",
    ("listed", "close"): "closed",
    ("closed", "release"): "released",
    ("open", "abort"): "aborted",
    ("listing", "abort"): "aborted",
    ("listed", "abort"): "aborted",
    ("closed", "abort"): "aborted",
}


@pytest.mark.parametrize("event", get_args(Event))
@pytest.mark.parametrize("state", [None, *STATES])
def test_every_event_in_every_state_has_one_outcome(state, event):
    step = transition(state, event)
    assert (step.after if step else None) == NEXT.get((state, event))
    assert sum((one.before, one.event) == (state, event) for one in TRANSITIONS) <= 1


def test_the_kinds_of_states_follow_from_the_table():
    assert {"released", "aborted"} == OVER
    assert UNDER_WAY == ("open", "listing", "listed", "closed")
    assert {"listing", "closed"} == WORKED_ON
    assert {"open", "listing"} == NEEDS_KEY
    assert {"closed"} | (states_after("closed")) == EXPORTABLE
    assert set(MEANINGS) == set(STATES)


@pytest.mark.parametrize(
    ("state", "later"),
    [
        ("open", {"listing", "listed", "closed", "released"}),
        ("listed", {"closed", "released"}),
        ("released", set()),
        ("aborted", set()),
    ],
)
def test_the_states_after_a_state_do_not_include_an_abort(state, later):
    assert states_after(state) == later


def test_each_group_spends_once_and_before_anything_is_published_about_it():
    spending = [one for one in TRANSITIONS if one.spends]
    assert tuple(one.spends for one in spending) == GROUPS
    assert [(one.spends, one.after) for one in spending] == [("opt-in", "listing"), ("client", "listed")]
    assert all("head-list" not in one.publishes for one in TRANSITIONS if one.after in {"open", "listing"})


def test_every_way_out_of_a_state_with_raw_records_destroys_their_key():
    leaving = [one for one in TRANSITIONS if one.before in NEEDS_KEY and one.after not in NEEDS_KEY]
    assert len(leaving) == 3
    assert all("key" in one.destroys for one in leaving)


def test_the_documentation_shows_the_table():
    assert as_markdown() in (ROOT / "docs/collector.md").read_text(encoding="utf-8")


def test_the_api_knows_the_same_states_and_groups():
    schemas = json.loads((ROOT / "spec/openapi.json").read_text(encoding="utf-8"))["components"]["schemas"]
    assert schemas["PublicRound"]["properties"]["state"]["enum"] == list(STATES)
    assert schemas["LedgerEntry"]["properties"]["group"]["enum"] == list(GROUPS)


@pytest.mark.parametrize("layer", ["http", "rounds", "secrets", "server"])
def test_no_statement_is_run_outside_storage(layer):
    """Import-linter checks the imports; a transaction could still be used directly."""
    methods = {"execute", "exec_driver_sql", "scalar", "scalars"}
    for path in sorted((ROOT / "src/blender_dp/collector" / layer).glob("*.py")):
        calls = [one for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.Call)]
        used = {one.func.attr for one in calls if isinstance(one.func, ast.Attribute)}
        assert not used & methods, path.name
