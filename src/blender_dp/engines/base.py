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
"""Reduces many rows to few. An engine may call it once, or once per part of the rows on other machines, so it must not
change any state, and must be possible to send to another process."""


class Group(Protocol):
    """The bounded, canonical records of one group of users."""

    @property
    def users(self) -> int:
        """The number of users in the group; a user without a usable record counts."""
        ...

    def over_records(self, work: Work) -> list[pa.Table]:
        """Apply `work` to every user's record(s): batches of user, query and url, null where a user has no record."""
        ...

    def over_record_counts(self, work: Work) -> list[pa.Table]:
        """Apply `work` to every distinct record with the number of users who have it: query, url, count."""
        ...

    def split(self, share: Fraction, key: str, purpose: str) -> tuple[Self, Self]:
        """Split the users in two by keyed hash: about this share, and the rest."""
        ...

    def part(self, users: pa.Array) -> tuple[Self, Self]:
        """Split the users in two: the named ones, and the rest."""
        ...

    def shared_users(self, other: Self) -> int:
        """The number of users who are in both groups."""
        ...


class Engine(Protocol):
    """Reads logs and makes groups. Every engine has its own type of log, which no other code inspects."""

    @property
    def ordered(self) -> bool:
        """Whether rows always arrive in the same order and in this process; only then is a seeded simulation repeatable."""
        ...

    def read(self, source: Source) -> Any:  # noqa: ANN401
        """Open log files; little more than their headers is read yet."""
        ...

    def load(self, data: pa.Table, columns: Columns, source: str) -> Any:  # noqa: ANN401
        """Use a table in memory as a log."""
        ...

    def bound(self, log: Any, m: int, key: str) -> tuple[Group, Tally]:  # noqa: ANN401
        """Choose at most m usable records of every user by keyed hash; also return a tally of the rows."""
        ...

    def report_counts(self, source: Source, digest: ListDigest, cells: int) -> tuple[NDArray[np.int64], Tally]:
        """Count the reports of every cell of the list with this digest; reports for other lists or cells are bad."""
        ...

    def bad_rows(self, source: Source) -> Iterator[dict[str, object]]:
        """The bad rows, so that the log can be fixed: the reason, and the fields or the rejected line."""
        ...

    def progress(self) -> float:
        """The progress of the current statement in per cent; negative if unknown."""
        ...
