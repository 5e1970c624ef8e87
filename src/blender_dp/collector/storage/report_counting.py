"""Counts how often each cell of a round was reported: in the database, or with an engine if there are many reports.

An engine reads Parquet, so the reports are written to a file in the scratch folder, which is removed after counting. After a
crash the file is written again; nothing is random here, so the counts are the same.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from blender_dp.collector.storage import report_rows
from blender_dp.collector.storage.crash_points import reached
from blender_dp.collector.storage.report_cells import DAMAGED, cells_of
from blender_dp.collector.storage.store import Store
from blender_dp.collector.storage.transactions import Transaction
from blender_dp_device.digests import ListDigest

CellCounts = tuple[NDArray[np.int64], int]
"""How often each cell was reported, and the number of reports."""

EXPORT_FROM = 1_000_000
"""By default, a round with this many reports is counted by an engine."""

_MEMORY = "1GB"  # what the engine may use, however many reports there are


@dataclass(frozen=True)
class Counting:
    """How many reports a round must have to be exported, where to, and which engine counts them."""

    scratch: Path | None = None
    """Without a folder nothing is exported."""
    export_from: int = EXPORT_FROM
    engine: str = "duckdb"

    def count(self, store: Store, round_id: str, digest: ListDigest, cells: int) -> CellCounts:
        """Count the reports of a round that accepts no more."""
        with store.read() as transaction:
            store.extend_limits(transaction)
            reports, size = report_rows.count_and_bytes(transaction, round_id)
        if self.scratch is not None and reports >= self.export_from and self._has_room(size):
            with self._lock_scratch(self.scratch) as is_ours:
                if is_ours:
                    return self._count_by_engine(store, round_id, digest, cells)
        # The disk is too full, or another process is exporting, perhaps on a machine that has disappeared.
        with store.read() as transaction:
            return count_in_database(transaction, round_id, cells)

    def clean(self) -> None:
        """Remove files left behind by a crash, unless another process is using the folder."""
        if self.scratch is not None and any(self.scratch.glob("*.parquet")):
            with self._lock_scratch(self.scratch):
                pass

    def _count_by_engine(self, store: Store, round_id: str, digest: ListDigest, cells: int) -> CellCounts:
        from blender_dp.collector.storage.parquet_export import write_parquet  # noqa: PLC0415 (slow to import)
        from blender_dp.engines.choice import chosen_engine  # noqa: PLC0415
        from blender_dp.logs import Format, Source  # noqa: PLC0415

        file = Path(self.scratch or ".") / f"{round_id}.parquet"
        with store.read() as transaction, file.open("wb") as sink:  # no transaction stays open while the engine counts
            reports = sum(write_parquet(transaction, round_id, digest, sink))
        reached("release: after export")
        counts, tally = chosen_engine(self.engine, _MEMORY).report_counts(
            Source(file.name, (file,), Format.PARQUET), digest, cells
        )
        if tally.bad:  # it was stored without being checked against the list
            raise DAMAGED
        return counts, reports

    def _has_room(self, size: int) -> bool:
        """Whether the export fits on the disk twice. If not, the reports can still be counted in the database."""
        return self.scratch is not None and shutil.disk_usage(self.scratch.parent).free > 2 * size

    @contextmanager
    def _lock_scratch(self, scratch: Path) -> Iterator[bool]:
        """Lock the scratch folder unless it is locked, and empty it before and after; yield whether we have the lock."""
        scratch.mkdir(mode=0o700, exist_ok=True)
        with (scratch / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system releases it if the process dies
            except BlockingIOError:
                yield False
                return
            try:
                _empty(scratch)
                yield True
            finally:
                _empty(scratch)


def count_in_database(transaction: Transaction, round_id: str, cells: int) -> CellCounts:
    """Count a round's reports without exporting them."""
    counts, reports = np.zeros(cells, np.int64), 0
    for batch_reports, batch_cells in cells_of(transaction, round_id):
        batch_counts = np.bincount(batch_cells, minlength=cells)
        if len(batch_counts) != cells:  # it was stored without being checked against the list
            raise DAMAGED
        counts += batch_counts
        reports += batch_reports
    return counts, reports


def _empty(scratch: Path) -> None:
    for file in scratch.glob("*.parquet"):
        file.unlink(missing_ok=True)
