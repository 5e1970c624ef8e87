"""Signed documents whose content is invalid, or is not what the client has pinned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import rfc8785

from hostile_collectors.documents import NOW, OTHER, REMOVED, SECOND, USUAL, bundle, head_list, opening, sign_raw, signed
from hostile_collectors.lists import lists
from hostile_collectors.steps import BUNDLE, PATHS, REPORT, UPLOAD, shown, step


def content_cases() -> Iterator[tuple[Any, ...]]:
    """Every field with values that a client must refuse."""
    times = [NOW - 1, 1, -1, 0, None, "never", True, 1.5, 1 << 50, REMOVED]
    rounds = [0, -1, True, 1.5, "1", None, [1], 1 << 50, REMOVED]
    campaigns, ids = [OTHER, None, 7, REMOVED], [SECOND, None, 7, REMOVED]
    shared = {"campaign": campaigns, "round": rounds, "round_id": ids, "expires": times}
    epsilons = ["8", "1", "4.0000000001", "nan", "NaN", "inf", "-4", "", "1e400000000", "4 ", 4, None, True, REMOVED]
    deltas = ["1.1e-6", "1", "-1", "nan", "1e-400000000", "1/0", 1e-6, None, REMOVED]
    for field, wrongs in {**shared, "epsilon": epsilons, "delta": deltas}.items():
        for wrong in wrongs:
            yield f"opening: {field} {shown(wrong)}", step(UPLOAD, signed("opening", opening(**{field: wrong})))
    for field, wrongs in {**shared, "list_digest": ["0" * 64, None, REMOVED]}.items():
        for wrong in wrongs:
            yield f"list: {field} {shown(wrong)}", step(REPORT, signed("head-list", head_list(**{field: wrong})))
    for name, wrong in lists():
        yield f"list: {name}", step(REPORT, signed("head-list", head_list(listed=wrong)))
    for field, wrongs in {"campaign": campaigns, "round": rounds}.items():
        for wrong in wrongs:
            yield f"bundle: {field} {shown(wrong)}", step(BUNDLE, signed("bundle", bundle(**{field: wrong})))
    for wrong in _rows():
        yield f"bundle: rows {json.dumps(wrong)[:80]}", step(BUNDLE, signed("bundle", bundle(queries=wrong)))
    for number in ("1.0", "1e0", "NaN", "Infinity", "1e999", "01"):
        for act, kind in PATHS.items():
            text = rfc8785.dumps(USUAL[kind]).decode().replace('"round":1', f'"round":{number}')
            yield f"{kind}: round {number}", step(act, sign_raw(kind, text).encode())
    for number in ("NaN", "Infinity", "-Infinity", "1e999"):
        text = rfc8785.dumps(USUAL["bundle"]).decode().replace("0.5", number)
        yield f"bundle: share {number}", step(BUNDLE, sign_raw("bundle", text).encode())


def _rows() -> Iterator[Any]:
    row = USUAL["bundle"]["queries"][0]
    yield from (None, {}, 7, "rows", [7], [[]], [None])
    for wrong in ({"urls": [[]]}, {"urls": [["a"]]}, {"urls": [[7, 0.5]]}, {"urls": [["a", "much"]]}, {"urls": None},
                  {"urls": [["a", 0.5, 1]]}, {"query": 7}, {"query": ["q"]}, {"share": None}, {"share": "much"},
                  {"share": True}):  # fmt: skip
        yield [{**row, **wrong}]


def surrogate_cases() -> Iterator[tuple[Any, ...]]:
    """Texts that cannot be encoded as UTF-8."""
    for act, kind in ((REPORT, "head-list"), (BUNDLE, "bundle")):
        for name in ("weather", "https://weather.example/"):
            text = rfc8785.dumps(USUAL[kind]).decode().replace(f'"{name}"', f'"{name}\\ud800"')
            yield f"{kind}: {name} with an unpaired surrogate", step(act, sign_raw(kind, text).encode())
