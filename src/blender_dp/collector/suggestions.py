"""Answers from a bundle's queries, the same on the collector and on devices: what was typed exactly, then what begins so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blender_dp.records.canonical import canonical_query

Row = dict[str, Any]
"""A query with its share and its URLs, as a bundle has it."""


def matching(queries: Sequence[Row], typed: str, n: int) -> list[Row]:
    """The query that was typed, if it is one, and the best of those that begin so."""
    wanted = canonical_query(typed)
    found = [row for row in queries if row["query"].startswith(wanted)]
    return sorted(found, key=lambda row: row["query"] != wanted)[:n]


def opensearch(queries: Sequence[Row], typed: str, n: int) -> list[Any]:
    """The same in OpenSearch's form: what was typed, and lists of queries, descriptions and URLs."""
    found = matching(queries, typed, n)
    urls = [row["urls"][0][0] if row["urls"] else "" for row in found]
    return [typed, [row["query"] for row in found], [f"{row['share']:.2%}" for row in found], urls]
