"""Signed head lists, openings and bundles that a client refuses although the pinned key has signed them, with the reason."""

# ruff: noqa: ANN401 (any JSON)
from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from vectors.signing import CAMPAIGN, NEVER, SIGNER, list_content, list_document, opening_content, round_id

NOW = 1_800_000_000
_SHAPE = "cannot be read, or does not have the expected shape"
_NUMBER = "a field is unknown, or its value is not an exact number"
_TERMS = "a number is not in lowest terms, or a field does not belong there"
_CHANNEL = "needs randomiser, epsilon, f_c and m_c"
_UNSORTED = "queries or URLs are repeated, unsorted or empty"
_ROW = "needs a query and its list of URLs"
_OLD = "belongs to a round seen before, or to an older round"
_LIST = "is not the list of this round"


def rejection_vectors() -> dict[str, Any]:
    """Documents, and what a device in round 5 of its campaign does with them: accept (null) or refuse, with the reason."""
    cases = [
        *(("head-list", name, content, reason) for name, content, reason in (*_lists(), *_channels(), *_names())),
        *(("opening", name, content, reason) for name, content, reason in _openings()),
        *(("bundle", name, content, reason) for name, content, reason in _bundles()),
    ]
    return {
        "schema": "blender-dp/vectors/rejections/1",
        "key": SIGNER.public,
        "campaign": CAMPAIGN,
        "epsilon": "4",
        "delta": "1/1000000",
        "round_id": round_id(5),
        "newest": 4,
        "now": NOW,
        "cases": [
            {"kind": kind, "name": name, "document": SIGNER.sign(kind, content).decode(), "reason": reason}
            for kind, name, content, reason in cases
        ],
    }


_Case = tuple[str, dict[str, Any], str | None]


def _lists() -> Iterator[_Case]:
    yield "valid", list_content(5), None
    yield "expires now", list_content(5, expires=NOW), None
    yield "has expired", list_content(5, expires=NOW - 1), "has expired"
    yield "never expires", list_content(5, expires=None), "does not say when it expires"
    yield "another campaign", list_content(5, campaign="d" * 32), "belongs to another campaign"
    yield "another round", list_content(5, round_id=round_id(6)), _LIST
    yield "the digest of another list", list_content(5, list_digest="0" * 64), _LIST
    yield "the round of the last report", list_content(4, round_id=round_id(5)), _OLD
    yield "an older round", list_content(3, round_id=round_id(5)), _OLD
    yield "a larger ε", list_content(5, list_document(epsilon="5")), "was made for a different ε from this device's"
    yield "a smaller ε", list_content(5, list_document(epsilon="3")), "was made for a different ε from this device's"
    empty = list_document(names={"queries": []})
    yield "no queries", list_content(5, empty), "has no queries, so a report would cost ε and say nothing"
    for number in (0, (1 << 40) + 1, 5.5, True, None):
        yield f"round is {json.dumps(number)}", list_content(5, round=number), _SHAPE
    yield "the highest number", list_content(5, round=1 << 40), None
    yield "the latest time", list_content(5, expires=1 << 42), None
    yield "a time that is text", list_content(5, expires="never"), _SHAPE
    yield "a time that is too late", list_content(5, expires=(1 << 42) + 1), _SHAPE
    yield "a time that is negative", list_content(5, expires=-1), _SHAPE
    for field in ("campaign", "round", "round_id", "head_list", "list_digest", "expires"):
        yield f"without {field}", list_content(5, **{field: ...}), _SHAPE


def _channels() -> Iterator[_Case]:
    """Lists whose channel is written wrongly: another spelling would be another digest of the same list."""
    for field, value, reason in (
        ("randomiser", "none", _lowest("randomiser", "none")),
        ("randomiser", "two-stage", "delta: the randomiser 'two-stage' needs it"),
        ("epsilon", "4/1", _lowest("epsilon", "4/1")),
        ("epsilon", 4, _TERMS),
        ("epsilon", "4.0", _lowest("epsilon", "4.0")),
        ("epsilon", "1e400000000", _lowest("epsilon", "1e400000000")),
        ("epsilon", "+4", _lowest("epsilon", "+4")),
        ("f_c", "34/40", _lowest("f_c", "34/40")),
        ("f_c", "0.85", _lowest("f_c", "0.85")),
        ("f_c", "1/0", _lowest("f_c", "1/0")),
        ("f_c", "1", _unit("1")),
        ("f_c", "0", _unit("0")),
        ("f_c", "1/10000000", "leaves less than 9.53674e-07 for one of the choices in a report"),
        ("f_c", 0.85, _NUMBER),
        ("f_c", None, _CHANNEL),
        ("m_c", 0, "m_c: 0 is not a whole number of at least 1"),
        ("m_c", 1_000_001, "m_c: is above 1,000,000"),
        ("m_c", True, _NUMBER),
        ("m_c", "1", _TERMS),
        ("subset_size", 0, "subset_size: 0 is not a whole number of at least 1"),
        ("subset_size", 10_001, _SHAPE),
        ("subset_size", None, "subset_size: the randomiser 'subset' needs it"),
        ("delta", "1/2", _TERMS),
        ("more", 1, _NUMBER),
    ):
        name = f"channel: {field} is {'missing' if value is None else json.dumps(value)}"
        yield name, list_content(5, list_document(**{field: value})), reason
    single = {"queries": [{"query": "a", "urls": []}]}
    yield "channel: f_c is 1 for single items", list_content(5, list_document(names=single, f_c="1")), _unit("1")
    yield "channel: f_c is 0 for single items", list_content(5, list_document(names=single, f_c="0")), _unit("0")
    yield "channel: missing", list_content(5, _without(list_document(), "channel")), _CHANNEL
    yield "channel: a list", list_content(5, {**list_document(), "channel": []}), _CHANNEL
    yield "two reports per client", list_content(5, list_document(m_c=2)), "the list was made for 2, but this device has 1"
    for part, name in (("1/4194304", "query"), ("4194303/4194304", "URL")):
        yield f"the smallest part of ε for the {name}", list_content(5, list_document(f_c=part)), None
    yield "channel: a small f_c for single items", list_content(5, list_document(names=single, f_c="1/10000000")), None
    yield "channel: a number of 350 characters", list_content(5, list_document(f_c=_fraction(174, 3))), None
    long = "f_c: has more than 350 digits"
    yield "channel: a number of 351 characters", list_content(5, list_document(f_c=_fraction(175, 2))), long
    yield "the largest subset size", list_content(5, list_document(subset_size=10_000)), None


def _fraction(digits: int, times: int) -> str:
    """A number in lowest terms whose numerator has this many digits, and its denominator about so many times its value."""
    numerator = 4 * 10 ** (digits - 1) + 1
    return f"{numerator}/{times * numerator - 1}"


def _unit(text: str) -> str:
    return f"f_c: {text} is not between 0 and 1 (both excluded)"


def _lowest(field: str, text: str) -> str:
    return f"{field}: {text!r} is not an exact number in lowest terms"


def _names() -> Iterator[_Case]:
    def named(*queries: Any, **more: Any) -> dict[str, Any]:
        return list_content(5, list_document(names={"queries": list(queries), **more}))

    a, b = {"query": "a", "urls": ["https://a.example/"]}, {"query": "b", "urls": ["https://b.example/"]}
    yield "names: sorted by code point", named({**a, "query": "\ufffd"}, {**b, "query": "\U00010000"}), None
    yield "names: sorted by UTF-16", named({**b, "query": "\U00010000"}, {**a, "query": "\ufffd"}), _UNSORTED
    yield "names: unsorted queries", named(b, a), _UNSORTED
    yield "names: a query twice", named(a, a), _UNSORTED
    yield "names: unsorted URLs", named({**a, "urls": ["https://b.example/", "https://a.example/"]}), _UNSORTED
    yield "names: a URL twice", named({**a, "urls": ["https://a.example/"] * 2}), _UNSORTED
    yield "names: an empty query", named({**a, "query": ""}), _ROW
    yield "names: an empty URL", named({**a, "urls": [""]}), _ROW
    yield "names: a query that is a number", named({**a, "query": 1}), _ROW
    yield "names: URLs that are text", named({**a, "urls": "https://a.example/"}), _ROW
    yield "names: only some have URLs", named(a, {"query": "b", "urls": []}), "only some of its queries have URLs"
    yield "names: single items", named({"query": "a", "urls": []}, {"query": "b", "urls": []}), None
    yield "names: an additional field of a query", named({**a, "more": 1}), "has fields that are not part of a head list"
    yield "names: an additional field", named(a, more=1), "has fields that are not part of a head list"
    version = "has canonical form 2, but this version supports only 1"
    yield "names: another canonical form", named(a, canonical_version=2), version
    schema = "has schema 'blender-dp/head-list/3', not 'blender-dp/head-list/2'"
    yield "names: another schema", named(a, schema="blender-dp/head-list/3"), schema
    first = _without({**list_document(), "schema": "blender-dp/head-list/1"}, "channel")
    yield "names: no channel", list_content(5, first), "does not name its channel (it has schema 1)"
    yield "names: no list", list_content(5, []), "needs schema, canonical_version and queries"


def _openings() -> Iterator[_Case]:
    yield "valid", opening_content(5), None
    for delta in ("1/1000000", "0.000001", "1e-9", "0"):
        yield f"a δ of {delta}", opening_content(5, delta=delta), None
    for epsilon in ("4.0", "0004", "400/100", "0.04e2", "400e-02", "4." + "0" * 40):
        yield f"ε as {epsilon}", opening_content(5, epsilon=epsilon), None
    yield "the highest number", opening_content(5, round=1 << 40), None
    yield "the latest time", opening_content(5, expires=1 << 42), None
    yield "expires now", opening_content(5, expires=NOW), None
    yield "has expired", opening_content(5, expires=NOW - 1), "has expired"
    yield "another campaign", opening_content(5, campaign="d" * 32), "belongs to another campaign"
    yield "another round", opening_content(5, round_id=round_id(6)), "belongs to another round"
    yield "a larger ε", opening_content(5, epsilon="401/100"), "has a different ε from this device's"
    yield "a smaller ε", opening_content(5, epsilon="3.99"), "has a different ε from this device's"
    yield "a larger δ", opening_content(5, delta="0.0000010001"), "has a larger δ than this device allows"
    wrong = {
        "round": (0, (1 << 40) + 1, 1.5, True, "5", None, ...),
        "round_id": ("5", "A" * 32, None, ...),
        "campaign": (None, ...),
        "epsilon": (
            4,
            "1e400000000",
            "4/0",
            "-4",
            "four",
            "9" * 41,
            " 4",
            "٤",
            "4E0",
            "4e+0",
            "4e000",
            "4.",
            ".4e1",
            "4." + "0" * 41,
            None,
            ...,
        ),
        "delta": (0.000001, "nan", None, ...),
        "expires": (None, "never", -1, (1 << 42) + 1, NEVER + 0.5, ...),
    }
    for field, values in wrong.items():
        for value in values:
            shown = "missing" if value is ... else json.dumps(value)
            yield f"{field} is {shown}", opening_content(5, **{field: value}), _SHAPE


def _bundles() -> Iterator[_Case]:
    row = {"query": "google", "share": 0.25, "urls": [["https://www.google.com/", 0.5]]}

    def bundle(*rows: Any, **changed: Any) -> dict[str, Any]:
        content = {"campaign": CAMPAIGN, "round": 5, "queries": list(rows), **changed}
        return _without(content, *(name for name, value in content.items() if value is ...))

    yield "valid", bundle(row), None
    yield "empty", bundle(), None
    yield "without URLs", bundle({**row, "urls": []}), None
    yield "another campaign", bundle(row, campaign="d" * 32), "belongs to another campaign"
    for name, wrong in (
        ("a share that is text", {**row, "share": "0.25"}),
        ("a share that is true", {**row, "share": True}),
        ("a query that is null", {**row, "query": None}),
        ("a URL without its probability", {**row, "urls": [["https://www.google.com/"]]}),
        ("a URL with three values", {**row, "urls": [["https://www.google.com/", 0.5, 0.5]]}),
        ("a URL that is a number", {**row, "urls": [[1, 0.5]]}),
        ("no URLs", _without(row, "urls")),
    ):
        yield name, bundle(wrong), _SHAPE
    yield "the highest number", bundle(row, round=1 << 40), None
    for field, value in (("round", 0), ("round", (1 << 40) + 1), ("round", ...), ("queries", ...)):
        shown = "missing" if value is ... else json.dumps(value)
        yield f"{field} is {shown}", bundle(row, **{field: value}), _SHAPE


def _without(document: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in names}
