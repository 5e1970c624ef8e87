"""Responses that are redirected, cut off, endless or huge, before a report or an upload and after it."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from typing import Any

from hostile_collectors.documents import Json
from hostile_collectors.steps import PATHS, REPORT, UPLOAD, step


def transport_cases() -> Iterator[tuple[Any, ...]]:
    """Responses in place of a pointer or a document."""
    responses: dict[str, Json] = {
        **{f"a redirect ({status})": _redirect(status) for status in (301, 302, 303, 307, 308)},
        **{f"status {status}": {"status": status, "body": "{}"} for status in (400, 403, 404, 410, 429, 500, 503)},
        "no response": {"close": True},
        "a response that is cut off": {"body": "{", "length": 10_000},
    }
    slow: dict[str, Json] = {"a response that never ends": {"endless": " "}, "a response that never starts": {"endless": ""}}
    huge = {"current": {"repeat": [" ", 256_001]}, "document": {"repeat": [" ", 8_000_001]}}
    bomb = base64.b64encode(gzip.compress(b" " * 8_000_001, 9, mtime=0)).decode()
    for act, kind in PATHS.items():
        for name, response in {**responses, **(slow if act == REPORT else {})}.items():  # one waits for each of these
            yield f"{act}: {name} in place of a pointer", step(act, current=response, requests=["current"])
            yield f"{act}: {name} in place of the {kind}", step(act, document=response)
        yield f"{act}: a huge pointer", step(act, current=huge["current"], requests=["current"])
        yield f"{act}: a huge {kind}", step(act, document=huge["document"])
        packed = {"base64": bomb, "headers": {"Content-Encoding": "gzip"}}
        yield f"{act}: a compressed {kind} that is huge", step(act, document=packed)


def acknowledgement_cases() -> Iterator[tuple[Any, ...]]:
    """What follows a report or an upload; it has left, so it stays charged, and is sent again unchanged."""
    wrongs: list[Json] = [
        {"body": ""}, {"body": "{"}, {"body": "[]"}, {"body": "7"}, {"body": "null"}, {"body": "{}"}, {"close": True},
        *({"status": status, "body": "{}"} for status in (400, 403, 404, 409, 429, 500)), {"repeat": [" ", 256_001]},
        *(_redirect(status) for status in (301, 302, 307, 308)), {"endless": " "},
    ]  # fmt: skip
    refusals = [{"body": json.dumps({"refused": one})} for one in (None, 7, [{"index": 0, "reason": "another list"}])]
    receipts = [{"body": json.dumps({"receipt": one})} for one in (None, 7, "f" * 64, "")]
    for act, more in ((REPORT, refusals), (UPLOAD, receipts)):
        for wrong in (*wrongs, *more):
            first = step(act, answer=wrong, spent="4", requests=["current", PATHS[act], act])
            again = ["current", "report"] if act == REPORT else ["current", "opening", "upload"]
            yield f"{act}: {json.dumps(wrong)[:60]} in response", first, step(act, result="done", spent="4", requests=again)


def _redirect(status: int) -> Json:
    return {"status": status, "headers": {"Location": "/elsewhere"}, "body": "{}"}
