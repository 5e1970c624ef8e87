"""How often every cell of a round was reported: counted where the reports are, or by an engine if they are many.

An engine reads Parquet. The reports go to a file in the scratch folder, in the form that `blender-dp aggregate` reads: a row
for every cell that is told, with the list that it answers. The file is removed when they are counted; one that a crash
has left is made anew, and as nothing is drawn here, the counts are the same.
"""

from __future__ import annotations

import fcntl
import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.engine import Connection

from blender_dp.collector.storage.crash_points import reached
from blender_dp.collector.storage.schema import reports
from blender_dp.collector.storage.store import Store
from blender_dp.engines.choice import chosen_engine
from blender_dp.errors import DocumentError
from blender_dp.logs import Format, Source

Counted = tuple[NDArray[np.int64], int]
"""How often every cell was reported, and by how many reports."""

EXPORT_FROM = 1_000_000

_BATCH = 1 << 16  # reports in memory at a time, and in a row group
_CELL_BYTES = 4
_MEMORY = "1GB"  # what the engine may use, however many reports there are
_SCHEMA = pa.schema([("head_list", pa.dictionary(pa.int32(), pa.string())), ("cell", pa.uint32())])
_DAMAGED = DocumentError("reports", "one names a cell that the list does not have", "Abort the round")


@dataclass(frozen=True)
class Counting:
    """From how many reports on a round is exported, where to, and which engine counts it."""

    scratch: Path | None = None
    """Without a folder nothing is exported."""
    export_from: int = EXPORT_FROM
    engine: str = "duckdb"

    def count(self, store: Store, name: str, digest: str, cells: int) -> Counted:
        """Count the reports of a round that takes no more."""
        total = sa.select(sa.func.count(), sa.func.sum(sa.func.length(reports.c.cells))).where(reports.c.round == name)
        with store.read() as connection:
            store.take_time(connection)
            clients, size = connection.execute(total).one()
        if self.scratch is not None and clients >= self.export_from and self._has_room(size or 0):
            with self._alone(self.scratch) as alone:
                if alone:
                    return self._by_engine(store, name, digest, cells)
        # There is no room, or another process is exporting, perhaps on a machine that has disappeared.
        with store.read() as connection:
            return count_here(connection, name, cells)

    def clean(self) -> None:
        """Remove what a crash has left, unless somebody is at it."""
        if self.scratch is not None and any(self.scratch.glob("*.parquet")):
            with self._alone(self.scratch):
                pass

    def _by_engine(self, store: Store, name: str, digest: str, cells: int) -> Counted:
        file = Path(self.scratch or ".") / f"{name}.parquet"
        with store.read() as connection, file.open("wb") as sink:  # no transaction stays open while the engine counts
            clients = sum(export(connection, name, digest, sink))
        reached("release: after export")
        counts, tally = chosen_engine(self.engine, _MEMORY).report_counts(
            Source(file.name, (file,), Format.PARQUET), digest, cells
        )
        if tally.bad:  # whoever stored it has not asked the list
            raise _DAMAGED
        return counts, clients

    def _has_room(self, size: int) -> bool:
        """Whether the export fits on the disk twice. Where it does not, the reports can still be counted where they are."""
        return self.scratch is not None and shutil.disk_usage(self.scratch.parent).free > 2 * size

    @contextmanager
    def _alone(self, scratch: Path) -> Iterator[bool]:
        """Have the scratch folder alone, if nobody else has it: empty now, and empty again afterwards."""
        scratch.mkdir(mode=0o700, exist_ok=True)
        with (scratch / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system lets go of it if the process dies
            except BlockingIOError:
                yield False
                return
            try:
                _empty(scratch)
                yield True
            finally:
                _empty(scratch)


def count_here(connection: Connection, name: str, cells: int) -> Counted:
    """Count a round's reports where they are."""
    counts, clients = np.zeros(cells, np.int64), 0
    for some, told in _told(connection, name):
        found = np.bincount(told, minlength=cells)
        if len(found) != cells:  # whoever stored it has not asked the list
            raise _DAMAGED
        counts += found
        clients += some
    return counts, clients


def export(connection: Connection, name: str, digest: str, sink: io.IOBase, *, ordered: bool = False) -> Iterator[int]:
    """Write a round's reports as Parquet, step by step; how many were written in each."""
    lists = pa.array([digest])
    with pq.ParquetWriter(sink, _SCHEMA) as writer:
        for some, told in _told(connection, name, ordered=ordered):
            answered = pa.DictionaryArray.from_arrays(np.zeros(len(told), np.int32), lists)
            writer.write_batch(pa.record_batch([answered, pa.array(told)], schema=_SCHEMA))
            yield some


def exported(connection: Connection, name: str, digest: str) -> Iterator[bytes]:
    """The same file, piece by piece, for whoever wants to send it: in the order of random ids, not in that of arrival."""
    sink = _Pieces()
    for _ in export(connection, name, digest, sink, ordered=True):
        yield sink.taken()
    yield sink.taken()


class _Pieces(io.RawIOBase):
    """A file that is handed on while it is written."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._length

    def write(self, piece: bytes, /) -> int:  # type: ignore[override]  # any buffer, says typeshed; Arrow sends bytes
        self._pieces.append(bytes(piece))
        self._length += len(piece)
        return len(piece)

    def taken(self) -> bytes:
        """What was written since this was asked last."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _told(connection: Connection, name: str, *, ordered: bool = False) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    """The cells of some reports at a time, and of how many."""
    chosen = sa.select(reports.c.cells).where(reports.c.round == name).order_by(*[reports.c.id] * ordered)
    with connection.execution_options(yield_per=_BATCH).execute(chosen) as found:
        for batch in found.scalars().partitions():
            told = b"".join(batch)
            if len(told) % _CELL_BYTES:
                raise _DAMAGED
            yield len(batch), np.frombuffer(told, "<u4")


def _empty(scratch: Path) -> None:
    for file in scratch.glob("*.parquet"):
        file.unlink(missing_ok=True)
