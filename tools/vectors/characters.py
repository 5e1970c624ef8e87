"""What the canonical form and the personal filter make of single characters, as digests over some hundreds of them each.

They are those of Unicode 14 to which anything happens: all but the letters without case that NFKC does not change.
"""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from typing import Any

from blender_dp_device.records.canonical import canonical_query, canonical_url
from blender_dp_device.records.personal import looks_personal

_UNICODE = "14.0.0"
_GROUP = 500
TEXTS = {
    "query": ["a{}1"],
    "url": ["https://{}a.example/{}?{}"],
    "personal": ["123456{}", "{}@b.c", "a@b.{}"],
}
"""Where a character stands in a text."""


def character_vectors() -> dict[str, Any]:
    """Groups of characters with the digests of their canonical forms and of the filter's decisions."""
    if unicodedata.unidata_version != _UNICODE:
        raise ValueError(f"Use the Python that has Unicode {_UNICODE}, not {unicodedata.unidata_version}.")
    wanted = [chr(place) for place in range(sys.maxunicode + 1) if _is_changed(chr(place))]
    groups = [wanted[start : start + _GROUP] for start in range(0, len(wanted), _GROUP)]
    return {
        "schema": "blender-dp/vectors/characters/1",
        "unicode": _UNICODE,
        "texts": TEXTS,
        "groups": [{"characters": _ranges(group), **character_results(group)} for group in groups],
    }


def character_results(characters: list[str]) -> dict[str, str]:
    """The SHA-256 of canonical forms, and of the filter's decisions about canonical queries as 0 and 1, one per line."""

    def texts(kind: str) -> list[str]:
        return [text.format(*[character] * 3) for character in characters for text in TEXTS[kind]]

    return {
        "queries": _digest([canonical_query(text) for text in texts("query")]),
        "urls": _digest([canonical_url(text) for text in texts("url")]),
        "personal": _digest([str(int(looks_personal(canonical_query(text), ""))) for text in texts("personal")]),
    }


def _is_changed(character: str) -> bool:
    category = unicodedata.category(character)
    is_plain = unicodedata.normalize("NFKC", character) == character == character.casefold()
    return category not in {"Cn", "Co", "Cs"} and not (category == "Lo" and is_plain)


def _ranges(characters: list[str]) -> list[list[int]]:
    """The code points as ranges, both ends included."""
    ranges: list[list[int]] = []
    for place in map(ord, characters):
        if ranges and ranges[-1][1] == place - 1:
            ranges[-1][1] = place
        else:
            ranges.append([place, place])
    return ranges


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
