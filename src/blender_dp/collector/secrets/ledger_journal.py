"""The ledger's journal: every entry, in a file outside the database, and on the disk before the database has it.

A database that was put back from a backup has forgotten what was spent since; the journal has not, and gives it back. The
file lies with the keys of raw records, which are in no backup, so that it is never put back itself. It holds nothing but
what the public ledger says.

An entry whose transaction never came to an end, because of a crash, counts as spent: that errs on the safe side. When its
round tries again it finds the entry, and spends no second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from blender_dp.collector.secrets import ledger_chain as ledger
from blender_dp.collector.secrets.files import locked, whole_lines
from blender_dp.collector.storage.crash_points import reached
from blender_dp.collector.storage.schema import ledger as ledger_table
from blender_dp.collector.storage.store import Store
from blender_dp.errors import DocumentError, StateError
from blender_dp_device.files import sync_folder, write_over, write_whole


@dataclass(frozen=True)
class Spent:
    """An entry, and when it was written, to the hour."""

    at: int
    entry: ledger.Entry


@dataclass(frozen=True)
class Journal:
    """The journal in a folder. All processes of a collector share it."""

    folder: Path

    @property
    def path(self) -> Path:
        """The file: a line for every entry."""
        return self.folder / "ledger.journal"

    @contextmanager
    def held(self) -> Iterator[int]:
        """Have the file alone."""
        with locked(self.path) as handle:
            yield handle

    def read(self, handle: int) -> list[Spent]:
        """All entries, checked. A last line that a crash has cut short was never spent, and is removed."""
        try:
            lines = [line.split(" ", 2) for line in whole_lines(self.path, handle)]
            times, pairs = [int(at) for at, _, _ in lines], [(entry, digest) for _, digest, entry in lines]
        except ValueError:
            raise DocumentError(str(self.path), "has a line that is none", "Restore it from a copy") from None
        return [Spent(at, entry) for at, entry in zip(times, ledger.check(pairs), strict=True)]

    def append(self, handle: int, some: Sequence[Spent]) -> None:
        """Add entries that follow the last one; they are on the disk before this returns."""
        if some:
            write_whole(handle, _lines(some))
            sync_folder(self.folder)

    def replace(self, some: Sequence[Spent]) -> None:
        """Replace all entries by the same ones with other dates."""
        with self.held():
            write_over(self.path, _lines(some))


def catch_up(store: Store, connection: Connection, journal: Journal) -> list[Spent]:
    """Give the ledger what only the journal has, and the journal what only the ledger has; the entries of both."""
    store.hold(connection, "ledger")
    found = connection.execute(sa.select(ledger_table).order_by(ledger_table.c.number)).all()
    entries = ledger.check((row.entry, row.digest) for row in found)
    kept = [Spent(row.at, entry) for row, entry in zip(found, entries, strict=True)]
    with journal.held() as handle:
        noted = journal.read(handle)
        for one, other in zip(kept, noted, strict=False):
            if one.entry != other.entry:
                problem = f"entry {one.entry.number} is not the one in {journal.path}: nothing more can be spent"
                raise DocumentError("ledger", problem, "Find out which is right; see docs/deployment.md, Backups")
        journal.append(handle, kept[len(noted) :])
    for one in noted[len(kept) :]:
        _insert(connection, one)
    # Dates were corrected in one of them and not in the other, or not yet: the later one is the safe one.
    latest = [Spent(max(one.at, other.at), one.entry) for one, other in zip(kept, noted, strict=False)]
    return latest + kept[len(noted) :] + noted[len(kept) :]


def add(connection: Connection, journal: Journal, one: Spent) -> None:
    """Write an entry into the journal, and then into the ledger. `catch_up` comes before it, in the same transaction.

    Nobody else can have spent meanwhile, unless the database has given us up, and with us the lock: after a long sleep, say.
    """
    with journal.held() as handle:
        noted = journal.read(handle)
        if one.entry.before != (noted[-1].entry.digest if noted else ledger.START):
            raise StateError("ledger", "somebody else has spent meanwhile", "It is tried again")
        journal.append(handle, [one])
    reached("journal: written")
    _insert(connection, one)


def _lines(some: Sequence[Spent]) -> bytes:
    return "".join(f"{one.at} {one.entry.digest} {one.entry.text()}\n" for one in some).encode()


def _insert(connection: Connection, one: Spent) -> None:
    entry = one.entry
    row = {"number": entry.number, "campaign": entry.campaign, "round": entry.round, "user_group": entry.group}
    connection.execute(ledger_table.insert(), {**row, "at": one.at, "entry": entry.text(), "digest": entry.digest})
