"""What the rest of the package asks of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from blender_dp.logs.source import Columns, Source
from blender_dp.logs.tally import Tally

Work = Callable[[Iterator[pa.RecordBatch]], pa.Table]
"""Turns many rows into few, where the rows are: an engine may call it once, or on every part of the rows somewhere else.
It has to be fit for that: no state that is changed, and nothing in it that cannot be sent to another process."""


class Group(Protocol):
    """The bounded, canonical records of one group of users."""

    @property
    def users(self) -> int:
        """How many users the group has; a user without a usable record counts."""
        ...

    def over_records(self, work: Work) -> list[pa.Table]:
        """Do some work on every user's record(s): batches of user, query and url, null where a user has none."""
        ...

    def over_record_counts(self, work: Work) -> list[pa.Table]:
        """Do some work on every distinct record with the number of users who hold it: query, url, count."""
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

    @property
    def ordered(self) -> bool:
        """Whether rows always come in one order and to this process: a seeded simulation repeats itself only then."""
        ...

    def read(self, source: Source) -> Any:  # noqa: ANN401
        """Open log files; little more than their headers is read yet."""
        ...

    def load(self, data: pa.Table, columns: Columns, source: str) -> Any:  # noqa: ANN401
        """Take a table in memory as a log."""
        ...

    def bound(self, log: Any, m: int, key: str) -> tuple[Group, Tally]:  # noqa: ANN401
        """Keep at most m usable records of every user, chosen by keyed hash, and say what became of the rows."""
        ...

    def report_counts(self, source: Source, digest: str, cells: int) -> tuple[NDArray[np.int64], Tally]:
        """How often every cell of the head list with this digest is reported; reports that answer no cell of it are bad."""
        ...

    def bad_rows(self, source: Source) -> Iterator[dict[str, object]]:
        """The bad rows themselves, for whoever has to mend the log: the reason, and the fields or the refused line."""
        ...

    def progress(self) -> float:
        """How much of what the engine is doing is done, in per cent, or less than 0 if it cannot tell."""
        ...
