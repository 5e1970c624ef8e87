"""Documents that were valid before, or for something else. The signer of documents chooses ids and numbers at will."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hostile_collectors.documents import NOW, SECOND, bundle, head_list, opening, signed
from hostile_collectors.steps import BUNDLE, PATHS, REPORT, UPLOAD, step


def replay_cases() -> Iterator[tuple[Any, ...]]:
    """A first step that succeeds, and a second one that must not succeed as well."""
    for name, act, content in (("report", REPORT, head_list), ("upload", UPLOAD, opening)):
        kind = PATHS[act]
        first = step(act, signed(kind, content(round=5)), result="done", spent="4", requests=["current", kind, act])
        for number in (5, 4, 1):
            for again, other in ((REPORT, head_list), (UPLOAD, opening)):
                document = signed(PATHS[again], other(round=number, round_id=SECOND))
                later = step(again, document, pointer={"id": SECOND}, spent="4")
                yield f"{again} to round {number}, after a {name} to round 5", first, later
    done = step(UPLOAD, result="done", spent="4", requests=["current", "opening", "upload"])
    again = step(UPLOAD, signed("opening", opening(round=2)), spent="4")
    yield "the same round under another number", done, again
    expired = step(UPLOAD, signed("opening", opening(expires=NOW - 1)), spent="4")
    yield "a second opening that has expired", done, expired
    nothing = step(REPORT, result="nothing", spent="4", requests=["current"])
    yield "a list of a round with an upload", done, nothing
    newer = step(BUNDLE, signed("bundle", bundle(round=2)), result="done", requests=["current", "bundle"])
    yield "an older bundle", newer, step(BUNDLE)
