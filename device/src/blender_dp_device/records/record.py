"""A record: one query and the URL clicked for it; or a single item, which is a query without a URL."""

from __future__ import annotations

from typing import NamedTuple

STAR = "⋆"
"""How "not listed" is shown to people. In data it is None, so that it cannot be confused with a search for a star."""


class Record(NamedTuple):
    """One query and the URL clicked for it; None stands for "not on the list", or for the missing URL of a single item."""

    query: str | None
    url: str | None

    def __str__(self) -> str:
        return f"⟨{self.query or STAR}, {self.url or STAR}⟩"
