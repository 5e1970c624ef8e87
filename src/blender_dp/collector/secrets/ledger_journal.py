"""The ledger's journal: every entry, in a file outside the database, on disk before it is in the database.

A database that was restored from a backup does not know what was spent since; the journal does. The file is stored with the
keys of raw records, which are in no backup, so that it is never restored itself. It contains only what the public ledger
shows.

An entry whose transaction was never committed, because of a crash, counts as spent, which errs on the safe side. When its
round tries again, it finds the entry and does not spend a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from blender_dp.collector.secrets import ledger_chain
from blender_dp.collector.secrets.files import locked, whole_lines
from blender_dp.errors import DocumentError
from blender_dp_device.files import sync_folder, write_over, write_whole


@dataclass(frozen=True)
class DatedEntry:
    """An entry, and when it was written, to the hour."""

    at: int
    entry: ledger_chain.Entry


@dataclass(frozen=True)
class Journal:
    """The journal in a folder. All processes of a collector share it."""

    folder: Path

    @property
    def path(self) -> Path:
        """The file: one line per entry."""
        return self.folder / "ledger.journal"

    @contextmanager
    def lock(self) -> Iterator[int]:
        """Keep other processes away from the file; yield its handle."""
        with locked(self.path) as handle:
            yield handle

    def read(self, handle: int) -> list[DatedEntry]:
        """All entries, checked. A last line that a crash has cut short was never spent, and is removed."""
        try:
            lines = [line.split(" ", 2) for line in whole_lines(self.path, handle)]
            times, pairs = [int(at) for at, _, _ in lines], [(entry, digest) for _, digest, entry in lines]
        except ValueError:
            raise DocumentError(str(self.path), "has an invalid line", "Restore the file from a copy") from None
        return [DatedEntry(at, entry) for at, entry in zip(times, ledger_chain.check(pairs), strict=True)]

    def append(self, handle: int, entries: Sequence[DatedEntry]) -> None:
        """Add entries that follow the last one; they are on disk before this returns."""
        if entries:
            write_whole(handle, _lines(entries))
            sync_folder(self.folder)

    def replace(self, entries: Sequence[DatedEntry]) -> None:
        """Replace all entries with the same ones under other dates."""
        with self.lock():
            write_over(self.path, _lines(entries))


def _lines(entries: Sequence[DatedEntry]) -> bytes:
    return "".join(f"{one.at} {one.entry.digest} {one.entry.text()}\n" for one in entries).encode()
