"""Suggestions from a bundle's queries, the same on the collector and on devices: the exact query first, then longer ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from blender_dp_device.records.canonical import canonical_query

Row = dict[str, Any]
"""A query with its share and its URLs, as in a bundle."""


class Suggester:
    """Finds queries of a bundle, most popular first, by what was typed so far."""

    def __init__(self, queries: Sequence[Row]) -> None:
        self._queries = queries
        self._by_text = {row["query"]: row for row in queries}

    def matching(self, typed: str, n: int) -> list[Row]:
        """The query that was typed, if the bundle has it, then the most popular ones that start with it."""
        wanted = canonical_query(typed)
        exact = self._by_text.get(wanted)
        longer = (row for row in self._queries if row["query"].startswith(wanted) and row is not exact)
        return ([exact] if exact else []) + list(islice(longer, n - bool(exact)))

    def opensearch(self, typed: str, n: int) -> list[Any]:
        """The same as OpenSearch suggestions: the typed text, then lists of queries, descriptions and URLs."""
        rows = self.matching(typed, n)
        urls = [row["urls"][0][0] if row["urls"] else "" for row in rows]
        return [typed, [row["query"] for row in rows], [f"{row['share']:.2%}" for row in rows], urls]
