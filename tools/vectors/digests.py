"""The two digests: of a list's values, and of a document's bytes."""

# ruff: noqa: ANN401 (any JSON)
from __future__ import annotations

import hashlib
from typing import Any

from vectors.signing import SIGNER, list_content, list_document

# By code point: a language that compares UTF-16 puts the last two the other way round.
_ODD = ["\x01\b\t\n\f\r\x1f", ' !"#/\\', "\x7f\u0080\u2028\u2029", "ä", "\ufffd", "\U00010000"]


def digest_vectors() -> dict[str, Any]:
    """Lists with the text whose SHA-256 is their digest, and documents with theirs."""
    odd = list_document(names={"queries": [{"query": query, "urls": [f"https://{query}/"]} for query in _ODD]})
    items = list_document(names={"queries": [{"query": query, "urls": []} for query in ("camera", "maps")]})
    usual = SIGNER.sign("head-list", list_content())
    return {
        "schema": "blender-dp/vectors/digests/1",
        "lists": [
            {"name": "three queries", **_list(list_document(), _text(list_document()))},
            {"name": "odd characters, sorted by code point", **_list(odd, _text(odd))},
            {"name": "single items", **_list(items, _text(items))},
        ],
        "documents": [{"document": text, "digest": _sha256(text)} for text in ("", "{}", "ä\U00010000", usual.decode())],
    }


def _list(document: dict[str, Any], text: str) -> dict[str, Any]:
    return {"list": document, "text": text, "digest": _sha256(text)}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _text(value: Any) -> str:
    """The values as JSON, written here by hand: keys sorted, no spaces, nothing escaped that need not be."""
    match value:
        case dict():
            return "{" + ",".join(f"{_text(name)}:{_text(value[name])}" for name in sorted(value)) + "}"
        case list():
            return "[" + ",".join(map(_text, value)) + "]"
        case str():
            return '"' + "".join(_ESCAPES.get(one) or _character(one) for one in value) + '"'
    return str(value)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def _character(one: str) -> str:
    return f"\\u{ord(one):04x}" if one < " " else one
