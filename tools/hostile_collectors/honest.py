"""Honest collectors: a client that refuses everything would pass all other cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hostile_collectors.documents import NOW, Json, head_list, opening, signed
from hostile_collectors.steps import BUNDLE, PATHS, REPORT, UPLOAD, pointer_to, step, usual


def honest_cases() -> Iterator[tuple[Any, ...]]:
    """Documents, states and responses that a client must accept."""
    yield "an honest list", step(REPORT, result="done", spent="4", requests=["current", "head-list", "report"])
    yield "an honest opening", step(UPLOAD, result="done", spent="4", requests=["current", "opening", "upload"])
    yield "an honest bundle", step(BUNDLE, result="done", requests=["current", "bundle"])
    last = signed("head-list", head_list(expires=NOW))
    done: Json = {"result": "done", "spent": "4"}
    yield "a list in its last second", step(REPORT, last, **done, requests=["current", "head-list", "report"])
    small = signed("opening", opening(delta="1e-9", epsilon="4.0"))
    yield "a smaller δ", step(UPLOAD, small, **done, requests=["current", "opening", "upload"])
    for act in (REPORT, UPLOAD):
        nothing = step(act, pointer={"state": "paused"}, result="nothing", requests=["current"])
        yield f"{act}: a state that this client does not know", nothing
        other = {"body": pointer_to(act, usual(act)).replace('"released": null', '"released": 7')}
        reported = step(act, current=other, **done, requests=["current", PATHS[act], act])
        yield f"{act}: a pointer whose other half cannot be read", reported
    accepted = step(
        REPORT, answer={"status": 202, "body": '{"refused": []}'}, **done, requests=["current", "head-list", "report"]
    )
    yield "a report that is accepted with another status of 2xx", accepted
