"""The interface of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from blender_dp.logs.source import Columns, Source
from blender_dp.logs.tally import Tally
from blender_dp_device.digests import ListDigest

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
        """Split the users in two by keyed hash: about this share, and the rest."""
        ...

    def part(self, users: pa.Array) -> tuple[Self, Self]:
        """Split the users in two: the named ones, and the rest."""
        ...

    def shared_users(self, other: Self) -> int:
        """How many users are in both groups."""
        ...


class Engine(Protocol):
    """Reads logs and makes groups. The type of a log is the engine's own; no other code looks inside."""

    @property
    def ordered(self) -> bool:
        """Whether rows always come in one order and to this process: a seeded simulation repeats itself only then."""
        ...

    def read(self, source: Source) -> Any:  # noqa: ANN401
        """Open log files; little more than their headers is read yet."""
        ...

    def load(self, data: pa.Table, columns: Columns, source: str) -> Any:  # noqa: ANN401
        """Use a table in memory as a log."""
        ...

    def bound(self, log: Any, m: int, key: str) -> tuple[Group, Tally]:  # noqa: ANN401
        """Keep at most m usable records of every user, chosen by keyed hash, and return what became of the rows."""
        ...

    def report_counts(self, source: Source, digest: ListDigest, cells: int) -> tuple[NDArray[np.int64], Tally]:
        """How often every cell of the head list with this digest is reported; reports that answer no cell of it are bad."""
        ...

    def bad_rows(self, source: Source) -> Iterator[dict[str, object]]:
        """The bad rows, so that the log can be fixed: the reason, and the fields or the rejected line."""
        ...

    def progress(self) -> float:
        """The progress of the current statement in per cent; negative if unknown."""
        ...
