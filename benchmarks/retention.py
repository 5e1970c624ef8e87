"""What a stored report costs: bytes on disk, and the time to store it in random order, to count it and to delete it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from benchmarks.collector import BATCH, DATABASES, say, scratch_folder
from benchmarks.machine import cores
from benchmarks.result import Cell, Result, Verdict
from benchmarks.served import served
from blender_dp.collector.rounds.retention import _DELETED as DELETED
from blender_dp.collector.storage import report_rows
from blender_dp.collector.storage.store import Store
from blender_dp_device.wire.cells import encode_cells

CORES = 2
SIZES = (200_000, 1_000_000)
STEADY = 2.0  # a report of the largest round may take this many times as long to delete as one of the smallest


@dataclass(frozen=True)
class Figures:
    """One round in one database."""

    name: str
    reports: int
    stored_bytes: int
    insert_seconds: float
    count_seconds: float
    delete_seconds: float
    slowest_batch: float

    @property
    def row(self) -> dict[str, Cell]:
        return {
            "database": self.name,
            "reports": self.reports,
            "bytes per report": self.stored_bytes / self.reports,
            "stored per s": self.reports / self.insert_seconds,
            "counted per s": self.reports / self.count_seconds,
            "deleted per s": self.reports / self.delete_seconds,
            "slowest batch, ms": self.slowest_batch * 1000,
        }


def measure() -> Result:
    with cores(CORES):
        figures = [one for name in DATABASES for one in measured(name)]
    return Result(
        "retention",
        "stored reports: bytes, and the time to store, count and delete them",
        f"Rounds of {', '.join(f'{size:,}' for size in SIZES)} reports of a list of 50 queries, stored {BATCH:,} at a time "
        f"in the random order of their ids, counted in one statement, deleted {DELETED:,} at a time as the worker does, "
        f"each batch in a transaction that is on disk at its end. Index included; database and program on {CORES} cores.",
        [one.row for one in figures],
        [_verdict(name, [one for one in figures if one.name == name]) for name in DATABASES],
    )


def measured(name: str) -> Iterator[Figures]:
    with scratch_folder() as place, DATABASES[name]() as database, served(place / "data", database) as server:
        listed = server.listed("retention")
        cells = [encode_cells(report) for report in listed.cells(BATCH)]
        store = Store.open(database or str(place / "data" / "collector.db"))
        for size in SIZES:
            before = stored_bytes(store)
            insert_seconds = filled(store, listed.id, cells, size)
            after = stored_bytes(store)
            count_seconds = counted(store, listed.id)
            batches = list(deleted(store, listed.id))
            compacted(store)
            yield Figures(name, size, after - before, insert_seconds, count_seconds, sum(batches), max(batches))
            say(f"{name}, {size:,}: deleted in {sum(batches):.1f} s")
        store.close()


def filled(store: Store, round_id: str, cells: list[bytes], size: int) -> float:
    """Store this many reports; return the seconds."""
    start = time.perf_counter()
    for _ in range(size // BATCH):
        with store.write("benchmark") as transaction:
            report_rows.insert(transaction, round_id, [(os.urandom(16), report) for report in cells])
    return time.perf_counter() - start


def counted(store: Store, round_id: str) -> float:
    """Count a round's reports in one statement, as the release does first; return the seconds."""
    start = time.perf_counter()
    with store.read() as transaction:
        report_rows.count_and_bytes(transaction, round_id)
    return time.perf_counter() - start


def deleted(store: Store, round_id: str) -> Iterator[float]:
    """Delete all reports of a round, and yield the seconds of every batch."""
    number, last = DELETED, b""
    while number == DELETED:
        start = time.perf_counter()
        with store.write("benchmark") as transaction:
            ids = report_rows.delete_some(transaction, round_id, DELETED, last)
        number, last = len(ids), max(ids, default=last)
        yield time.perf_counter() - start


def stored_bytes(store: Store) -> int:
    """What the reports occupy on disk, with their index."""
    with store.read() as transaction:
        if not store.is_sqlite:
            return int(transaction.scalar(sa.text("SELECT pg_total_relation_size('reports')")) or 0)
        pages, free, size = (
            transaction.scalar(sa.text(f"PRAGMA {name}")) for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size


def compacted(store: Store) -> None:
    """Start the next round with an empty table and index. SQLite uses free pages again by itself."""
    if not store.is_sqlite:
        with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("VACUUM FULL reports"))


def _verdict(name: str, figures: list[Figures]) -> Verdict:
    smallest, largest = (one.delete_seconds / one.reports for one in (figures[0], figures[-1]))
    claim = f"{name}, time to delete a report of the largest round to one of the smallest"
    return Verdict(claim, largest / smallest, STEADY, "at most")
