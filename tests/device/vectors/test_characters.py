"""Every character has the canonical form that spec/vectors says, in any version of Unicode that has it."""

from __future__ import annotations

import hashlib

import pytest

from blender_dp_device.records.canonical import canonical_query, canonical_url
from blender_dp_device.records.personal import looks_personal
from tests.device.vectors.files import vectors

CHARACTERS = vectors("characters")


@pytest.mark.parametrize("group", CHARACTERS["groups"], ids=lambda group: hex(group["characters"][0][0]))
def test_characters(group):
    assert digest(canonical_query(text) for text in texts("query", group)) == group["queries"]
    assert digest(canonical_url(text) for text in texts("url", group)) == group["urls"]
    decisions = (looks_personal(canonical_query(text), "") for text in texts("personal", group))
    assert digest(str(int(decision)) for decision in decisions) == group["personal"]


def texts(kind, group):
    characters = (chr(place) for first, last in group["characters"] for place in range(first, last + 1))
    return [text.replace("{}", character) for character in characters for text in CHARACTERS["texts"][kind]]


def digest(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
