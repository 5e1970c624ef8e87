"""Lists that are invalid, or were made for another ε."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hostile_collectors.documents import LIST, REMOVED, changed_in
from hostile_collectors.steps import shown


def lists() -> Iterator[tuple[str, Any]]:
    """Each list with the name of what is wrong with it."""
    channels: dict[str, list[Any]] = {
        "epsilon": ["8", "2", "4/1", "04", "4.0", "1e400000000", "nan", "-4", "", 4, None, "9" * 1_000, REMOVED],
        "f_c": ["2", "0", "1", "0.85", "34/40", "1/0", "1e-400000000", "nan", 0.85, None, "9" * 1_000, REMOVED],
        "m_c": [2, 0, -1, 1.5, "1", True, None, REMOVED],
        "subset_size": [0, -1, 10_001, 10**9, 1.5, "1", True, None, REMOVED],
        "randomiser": ["two-stage", "none", "", None, 7, REMOVED],
        "delta": ["1/2", "0"],
        "own": [1],
    }
    for field, wrongs in channels.items():
        for wrong in wrongs:
            yield f"{field} {shown(wrong)}", {**LIST, "channel": changed_in(LIST["channel"], {field: wrong})}
    two_stage = {"randomiser": "two-stage", "epsilon": "4", "f_c": "17/20", "m_c": 1, "delta": "1/100000"}
    for wrong in (two_stage, [], None, 7, "subset", {}):
        yield f"channel {shown(wrong)}", {**LIST, "channel": wrong}
    for wrong in ({}, [], None, 7, "list", {"schema": LIST["schema"]}):
        yield shown(wrong), wrong
    first, second = LIST["queries"]
    queries = [
        [], None, {}, [first, first], [second, first], [{**first, "query": ""}], [{**first, "query": 7}], [{"query": "a"}],
        [{"urls": []}], [first, {**second, "urls": []}], [{**first, "urls": ["b", "a"]}], [{**first, "urls": ["a", "a"]}],
        [{**first, "urls": [7]}], [{**first, "urls": [""]}], [{**first, "urls": "a"}], [{**first, "more": 1}], ["a"], [[]],
    ]  # fmt: skip
    for wrong in queries:
        yield f"queries {json.dumps(wrong)}", {**LIST, "queries": wrong}
    for field, wrongs in {"schema": ["blender-dp/head-list/1", "blender-dp/head-list/3", None, REMOVED],
                          "canonical_version": [2, 0, "1", True, None, REMOVED], "more": [1]}.items():  # fmt: skip
        for wrong in wrongs:
            yield f"{field} {shown(wrong)}", changed_in(LIST, {field: wrong})
