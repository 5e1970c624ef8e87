"""What offline search finds in a bundle."""

from __future__ import annotations

from typing import Any

_QUERIES = ["google maps", "google", "yahoo", "goo", "maps", "strasse", "σασ", "\U00010428"]
"""Most popular first, in canonical form."""

_CASES = (
    ("go", 10, [0, 1, 3]),
    ("goo", 10, [3, 0, 1]),
    ("GOO ", 1, [3]),
    ("google", 10, [1, 0]),
    ("Google  M", 10, [0]),
    ("ｍａｐｓ", 10, [4]),
    ("maps.", 10, []),
    ("aps", 10, []),
    ("Straß", 10, [5]),
    ("ΣΑΣ", 10, [6]),
    ("\U00010400", 10, [7]),
    ("", 3, [0, 1, 2]),
    (" ", 2, [0, 1]),
    ("yahoo", 0, []),
)
"""What was typed, how many rows are wanted, and the places of the rows that must be found, in this order."""


def search_vectors() -> dict[str, Any]:
    """A bundle's rows, and searches in them."""
    return {
        "schema": "blender-dp/vectors/search/1",
        "queries": [{"query": query, "share": (8 - i) / 64, "urls": []} for i, query in enumerate(_QUERIES)],
        "cases": [{"typed": typed, "n": n, "places": places} for typed, n, places in _CASES],
    }
