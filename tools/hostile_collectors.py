"""The table of hostile collectors: what one may send, and what a client must make of it. Both clients replay all of it.

A case is a list of steps. In each the client acts once, and the collector responds as the step says.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from typing import Any

import rfc8785
from hostile_documents import (
    LIST,
    NOW,
    OTHER,
    PINNED,
    RECORD,
    REMOVED,
    ROUND,
    SECOND,
    SIGNER,
    STRANGER,
    USUAL,
    Json,
    bundle,
    changed_in,
    head_list,
    opening,
    sign_raw,
    signed,
)

from blender_dp_device.digests import document_digest

REPORT, UPLOAD, BUNDLE = "report", "upload", "refresh bundle"
PATHS = {REPORT: "head-list", UPLOAD: "opening", BUNDLE: "bundle"}


def hostile_collectors() -> Json:
    """All cases, with what the client has pinned."""
    return {
        "schema": "blender-dp/hostile-collectors/1",
        "pinned": {"key": SIGNER.public, **PINNED},
        "now": NOW,
        "record": RECORD,
        "usual": {act: _pointer(act, _usual(act)) for act in PATHS},
        "documents": {document_digest(_usual(act)): _usual(act).decode() for act in PATHS},
        "cases": [{"name": name, "steps": steps} for name, *steps in _cases()],
    }


def _cases() -> Iterator[tuple[Any, ...]]:
    yield from _honest()
    yield from _signatures()
    yield from _pointers()
    yield from _contents()
    yield from _surrogates()
    yield from _replays()
    yield from _transport()
    yield from _acknowledgements()


def _honest() -> Iterator[tuple[Any, ...]]:
    """A client that refuses everything would pass all other cases."""
    yield "an honest list", _step(REPORT, result="done", spent="4", requests=["current", "head-list", "report"])
    yield "an honest opening", _step(UPLOAD, result="done", spent="4", requests=["current", "opening", "upload"])
    yield "an honest bundle", _step(BUNDLE, result="done", requests=["current", "bundle"])
    last = signed("head-list", head_list(expires=NOW))
    done: Json = {"result": "done", "spent": "4"}
    yield "a list in its last second", _step(REPORT, last, **done, requests=["current", "head-list", "report"])
    small = signed("opening", opening(delta="1e-9", epsilon="4.0"))
    yield "a smaller δ", _step(UPLOAD, small, **done, requests=["current", "opening", "upload"])
    for act in (REPORT, UPLOAD):
        nothing = _step(act, pointer={"state": "paused"}, result="nothing", requests=["current"])
        yield f"{act}: a state that this client does not know", nothing
        other = {"body": _pointer(act, _usual(act)).replace('"released": null', '"released": 7')}
        reported = _step(act, current=other, **done, requests=["current", PATHS[act], act])
        yield f"{act}: a pointer whose other half cannot be read", reported
    accepted = _step(
        REPORT, answer={"status": 202, "body": '{"refused": []}'}, **done, requests=["current", "head-list", "report"]
    )
    yield "a report that is accepted with another status of 2xx", accepted


def _signatures() -> Iterator[tuple[Any, ...]]:
    for act, kind in PATHS.items():
        content = USUAL[kind]
        good = signed(kind, content).decode()
        _, _, signature = good.partition(f'"{SIGNER.public}"')[2].rpartition(',"signature":')
        forged = STRANGER.sign(kind, content).decode()
        documents = {
            "signed with another key": forged,
            "signed with another key, but names the pinned one": forged.replace(STRANGER.public, SIGNER.public),
            "with a signature of zeros": good.replace(signature, f'"{base64.b64encode(bytes(64)).decode()}"}}'),
            "with a short signature": good.replace(signature, '"AAAA"}'),
            "without a signature": good.replace(f',"signature":{signature}', "}"),
            "changed after it was signed": good.replace('"round":1', '"round":2'),
            "written with spaces": json.dumps(json.loads(good)),
            "with a line break at its end": good + "\n",
            "with its keys in another order": json.dumps(dict(reversed(json.loads(good).items())), separators=(",", ":")),
            "of another kind": signed("release", content).decode(),
            "that is not JSON": "{" + good,
            "that is empty": "",
            **{f"with {wrong!r} as content": sign_raw(kind, wrong) for wrong in ("[]", "null", "7", '"text"', "{", "NaN")},
        }
        for name, document in documents.items():
            yield f"{kind} {name}", _step(act, document.encode())
        other = next(one for one in USUAL if one != kind)
        yield f"{kind} that is a signed {other}", _step(act, signed(other, USUAL[other]))
        name = "0" * 64
        yield f"{kind} that does not match its digest", _step(act, documents={name: good}, pointer={_field(kind): name})


def _pointers() -> Iterator[tuple[Any, ...]]:
    """The pointer is not signed. Names in it become part of a path only if they have the expected shape."""
    names = ["", "\x00", "../../operator", "A" * 64, "1" * 63, "1" * 65, "1" * 64 + "\n", "\ud800", 7, None, ["1"]]
    for act, kind in PATHS.items():
        for name in [*names, REMOVED]:
            yield f"{kind} called {_shown(name)}", _step(act, pointer={_field(kind): name}, requests=["current"])
        for name in ["", "../../operator", "A" * 32, "1" * 31, "1" * 33, 7, None, REMOVED]:
            yield f"{act}: a round called {_shown(name)}", _step(act, pointer={"id": name}, requests=["current"])
        both = [f'{{"round": {wrong}, "released": {wrong}}}' for wrong in ("1", "{}", "NaN", "[]")]
        for text in ["", "{", "[]", "7", "NaN", "{}", '"text"', *both]:
            yield f"{act}: {text} in place of a pointer", _step(act, current={"body": text}, requests=["current"])
        deep = {"repeat": ["[", 100_000]}
        yield f"{act}: a pointer that is nested deeply", _step(act, current=deep, requests=["current"])
        not_text = {"base64": base64.b64encode(b'{"round": "\xff"}').decode()}
        yield f"{act}: a pointer that is not UTF-8", _step(act, current=not_text, requests=["current"])


def _contents() -> Iterator[tuple[Any, ...]]:
    times = [NOW - 1, 1, -1, 0, None, "never", True, 1.5, 1 << 50, REMOVED]
    rounds = [0, -1, True, 1.5, "1", None, [1], 1 << 50, REMOVED]
    campaigns, ids = [OTHER, None, 7, REMOVED], [SECOND, None, 7, REMOVED]
    shared = {"campaign": campaigns, "round": rounds, "round_id": ids, "expires": times}
    epsilons = ["8", "1", "4.0000000001", "nan", "NaN", "inf", "-4", "", "1e400000000", "4 ", 4, None, True, REMOVED]
    deltas = ["1.1e-6", "1", "-1", "nan", "1e-400000000", "1/0", 1e-6, None, REMOVED]
    for field, wrongs in {**shared, "epsilon": epsilons, "delta": deltas}.items():
        for wrong in wrongs:
            yield f"opening: {field} {_shown(wrong)}", _step(UPLOAD, signed("opening", opening(**{field: wrong})))
    for field, wrongs in {**shared, "list_digest": ["0" * 64, None, REMOVED]}.items():
        for wrong in wrongs:
            yield f"list: {field} {_shown(wrong)}", _step(REPORT, signed("head-list", head_list(**{field: wrong})))
    for name, wrong in _lists():
        yield f"list: {name}", _step(REPORT, signed("head-list", head_list(listed=wrong)))
    for field, wrongs in {"campaign": campaigns, "round": rounds}.items():
        for wrong in wrongs:
            yield f"bundle: {field} {_shown(wrong)}", _step(BUNDLE, signed("bundle", bundle(**{field: wrong})))
    for wrong in _rows():
        yield f"bundle: rows {json.dumps(wrong)[:80]}", _step(BUNDLE, signed("bundle", bundle(queries=wrong)))
    for number in ("1.0", "1e0", "NaN", "Infinity", "1e999", "01"):
        for act, kind in PATHS.items():
            text = rfc8785.dumps(USUAL[kind]).decode().replace('"round":1', f'"round":{number}')
            yield f"{kind}: round {number}", _step(act, sign_raw(kind, text).encode())
    for number in ("NaN", "Infinity", "-Infinity", "1e999"):
        text = rfc8785.dumps(USUAL["bundle"]).decode().replace("0.5", number)
        yield f"bundle: share {number}", _step(BUNDLE, sign_raw("bundle", text).encode())


def _surrogates() -> Iterator[tuple[Any, ...]]:
    for act, kind in ((REPORT, "head-list"), (BUNDLE, "bundle")):
        for name in ("weather", "https://weather.example/"):
            text = rfc8785.dumps(USUAL[kind]).decode().replace(f'"{name}"', f'"{name}\\ud800"')
            yield f"{kind}: {name} with an unpaired surrogate", _step(act, sign_raw(kind, text).encode())


def _lists() -> Iterator[tuple[str, Any]]:
    """Lists that are invalid, or were made for another ε."""
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
            yield f"{field} {_shown(wrong)}", {**LIST, "channel": changed_in(LIST["channel"], {field: wrong})}
    two_stage = {"randomiser": "two-stage", "epsilon": "4", "f_c": "17/20", "m_c": 1, "delta": "1/100000"}
    for wrong in (two_stage, [], None, 7, "subset", {}):
        yield f"channel {_shown(wrong)}", {**LIST, "channel": wrong}
    for wrong in ({}, [], None, 7, "list", {"schema": LIST["schema"]}):
        yield _shown(wrong), wrong
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
            yield f"{field} {_shown(wrong)}", changed_in(LIST, {field: wrong})


def _rows() -> Iterator[Any]:
    row = USUAL["bundle"]["queries"][0]
    yield from (None, {}, 7, "rows", [7], [[]], [None])
    for wrong in ({"urls": [[]]}, {"urls": [["a"]]}, {"urls": [[7, 0.5]]}, {"urls": [["a", "much"]]}, {"urls": None},
                  {"urls": [["a", 0.5, 1]]}, {"query": 7}, {"query": ["q"]}, {"share": None}, {"share": "much"},
                  {"share": True}):  # fmt: skip
        yield [{**row, **wrong}]


def _replays() -> Iterator[tuple[Any, ...]]:
    """Documents that were valid before, or for something else. The signer of documents chooses ids and numbers at will."""
    for name, act, content in (("report", REPORT, head_list), ("upload", UPLOAD, opening)):
        kind = PATHS[act]
        first = _step(act, signed(kind, content(round=5)), result="done", spent="4", requests=["current", kind, act])
        for number in (5, 4, 1):
            for again, other in ((REPORT, head_list), (UPLOAD, opening)):
                document = signed(PATHS[again], other(round=number, round_id=SECOND))
                later = _step(again, document, pointer={"id": SECOND}, spent="4")
                yield f"{again} to round {number}, after a {name} to round 5", first, later
    done = _step(UPLOAD, result="done", spent="4", requests=["current", "opening", "upload"])
    again = _step(UPLOAD, signed("opening", opening(round=2)), spent="4")
    yield "the same round under another number", done, again
    expired = _step(UPLOAD, signed("opening", opening(expires=NOW - 1)), spent="4")
    yield "a second opening that has expired", done, expired
    nothing = _step(REPORT, result="nothing", spent="4", requests=["current"])
    yield "a list of a round with an upload", done, nothing
    newer = _step(BUNDLE, signed("bundle", bundle(round=2)), result="done", requests=["current", "bundle"])
    yield "an older bundle", newer, _step(BUNDLE)


def _transport() -> Iterator[tuple[Any, ...]]:
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
            yield f"{act}: {name} in place of a pointer", _step(act, current=response, requests=["current"])
            yield f"{act}: {name} in place of the {kind}", _step(act, document=response)
        yield f"{act}: a huge pointer", _step(act, current=huge["current"], requests=["current"])
        yield f"{act}: a huge {kind}", _step(act, document=huge["document"])
        packed = {"base64": bomb, "headers": {"Content-Encoding": "gzip"}}
        yield f"{act}: a compressed {kind} that is huge", _step(act, document=packed)


def _acknowledgements() -> Iterator[tuple[Any, ...]]:
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
            step = _step(act, answer=wrong, spent="4", requests=["current", PATHS[act], act])
            again = ["current", "report"] if act == REPORT else ["current", "opening", "upload"]
            yield f"{act}: {json.dumps(wrong)[:60]} in response", step, _step(act, result="done", spent="4", requests=again)


def _step(
    act: str,
    body: bytes | None = None,
    *,
    document: Json | None = None,
    documents: Json | None = None,
    pointer: Json | None = None,
    current: Json | None = None,
    answer: Json | None = None,
    result: str = "refused",
    spent: str = "0",
    requests: list[str] | None = None,
) -> Json:
    """One act of the client, what the collector responds to its requests if that is not usual, and what must come out."""
    pointed = _pointer(act, _usual(act) if body is None else body, pointer or {})
    own = {} if body is None else {document_digest(body): body.decode()}
    own |= {document_digest(_usual(act)): document} if document else {}
    unusual = {"current": current or {"body": pointed}, "documents": {**own, **(documents or {})}, "answer": answer}
    expected = {"result": result, "spent": spent, "requests": requests or ["current", PATHS[act]]}
    usual = (None, {}, {"body": _pointer(act, _usual(act))})
    return {"act": act, **{key: value for key, value in unusual.items() if value not in usual}, **expected}


def _pointer(act: str, body: bytes, changed: Json | None = None) -> str:
    """The collector's response that names the current round, which is not signed."""
    state = {REPORT: "listed", UPLOAD: "open", BUNDLE: "released"}[act]
    fields = {"id": ROUND, "state": state, _field(PATHS[act]): document_digest(body), **(changed or {})}
    pointer = {key: value for key, value in fields.items() if value is not REMOVED}
    return json.dumps({"key": SIGNER.public, "round": None, "released": None, _which(act): pointer})


def _which(act: str) -> str:
    return "released" if act == BUNDLE else "round"


def _usual(act: str) -> bytes:
    return signed(PATHS[act], USUAL[PATHS[act]])


def _field(kind: str) -> str:
    return kind.replace("-", "_")


def _redirect(status: int) -> Json:
    return {"status": status, "headers": {"Location": "/elsewhere"}, "body": "{}"}


def _shown(value: Any) -> str:  # noqa: ANN401 (JSON)
    return "missing" if value is REMOVED else json.dumps(value)[:80]
