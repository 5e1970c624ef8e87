"""Suggestions from a bundle's queries, the same on the collector and on devices: the exact query first, then longer ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blender_dp_device.records.canonical import canonical_query
from blender_dp_device.wire.shapes import finite, text

Row = dict[str, Any]
"""A query with its share and its URLs, as in a bundle."""


def bundle_rows(content: dict[str, Any]) -> list[Row]:
    """The rows of a bundle: queries, each with a share and with URLs and their probabilities."""
    return [
        {
            "query": text(row["query"]),
            "share": finite(row["share"]),
            "urls": [[text(url), finite(probability)] for url, probability in row["urls"]],
        }
        for row in [] + content["queries"]  # which must be a list: an empty object is not one
    ]


class Suggester:
    """Finds queries in a bundle by what was typed so far, most popular first."""

    def __init__(self, queries: Sequence[Row]) -> None:
        self._queries = queries
        self._texts = [row["query"] for row in queries]
        self._places = {query: place for place, query in enumerate(self._texts)}
        self._descriptions = [f"{row['share']:.2%}" for row in queries]
        self._urls = [row["urls"][0][0] if row["urls"] else "" for row in queries]

    def matching(self, typed: str, n: int) -> list[Row]:
        """The typed query, if the bundle has it, then the most popular ones that start with it."""
        return [self._queries[place] for place in self._matching(typed, n)]

    def opensearch(self, typed: str, n: int) -> list[Any]:
        """The same as OpenSearch suggestions: the typed text, then lists of queries, descriptions and URLs."""
        places = self._matching(typed, n)
        columns = (self._texts, self._descriptions, self._urls)
        return [typed, *([column[place] for place in places] for column in columns)]

    def _matching(self, typed: str, n: int) -> list[int]:
        wanted = canonical_query(typed)
        exact = self._places.get(wanted)
        places = [] if exact is None else [exact]
        for place, query in enumerate(self._texts):
            if len(places) >= n:
                break
            if query.startswith(wanted) and place != exact:
                places.append(place)
        return places[:n]
