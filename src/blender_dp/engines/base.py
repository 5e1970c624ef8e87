"""What the stages ask of an engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa


@dataclass(frozen=True)
class Columns:
    """The names under which a log keeps user, query and URL."""

    user: str = "user"
    query: str = "query"
    url: str = "url"


class Group(Protocol):
    """The bounded, canonical records of one group of users."""

    @property
    def users(self) -> int:
        """How many users the group has; a user without a usable record counts."""
        ...

    def record_counts(self) -> Iterator[pa.RecordBatch]:
        """Every distinct record with the number of users who hold it: query, url, count."""
        ...

    def records(self) -> Iterator[pa.RecordBatch]:
        """Every user's record(s): query and url, null where a user has none."""
        ...
