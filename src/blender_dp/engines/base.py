"""What the rest of the package asks of an engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, Self

import pyarrow as pa


@dataclass(frozen=True)
class Columns:
    """The names under which a log keeps user, query and URL."""

    user: str = "user"
    query: str = "query"
    url: str = "url"


PLAIN_COLUMNS = Columns()
"""The names a log has if nobody says otherwise."""


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

    def split(self, share: Fraction, key: str, purpose: str) -> tuple[Self, Self]:
        """Part the users in two by keyed hash: about the given share, and the others."""
        ...

    def part(self, users: pa.Array) -> tuple[Self, Self]:
        """Part the users in two: the named ones, and the others."""
        ...

    def shared_users(self, other: Self) -> int:
        """How many users are in both groups."""
        ...


class Engine(Protocol):
    """Reads logs and makes groups. A log is whatever the engine can count; nobody else looks inside."""

    def read(self, path: Path, columns: Columns) -> Any:  # noqa: ANN401
        """Open a log file; nothing but its header is read yet."""
        ...

    def load(self, data: pa.Table, columns: Columns, source: str) -> Any:  # noqa: ANN401
        """Take a table in memory as a log."""
        ...

    def bound(self, log: Any, m: int, key: str) -> Group:  # noqa: ANN401
        """Keep at most m canonical records of every user, chosen by keyed hash."""
        ...
