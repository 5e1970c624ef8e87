"""Writing to the privacy ledger: the journal first, then the database."""

from __future__ import annotations

from dataclasses import dataclass

from blender_dp.collector.round_states import Group
from blender_dp.collector.rounds.spending import is_spent
from blender_dp.collector.secrets import ledger_chain
from blender_dp.collector.secrets.ledger_journal import DatedEntry, Journal
from blender_dp.collector.storage import ledger_rows, locks
from blender_dp.collector.storage.crash_points import reached
from blender_dp.collector.storage.round_rows import Round
from blender_dp.collector.storage.transactions import Transaction
from blender_dp.errors import DocumentError, StateError
from blender_dp.privacy.loss import Loss


@dataclass(frozen=True)
class Ledger:
    """The ledger in the database, and its journal."""

    journal: Journal

    def catch_up(self, transaction: Transaction) -> list[DatedEntry]:
        """Copy entries that only the journal or only the database has to the other one; return all entries."""
        locks.hold(transaction, "ledger")
        stored = stored_entries(transaction)
        with self.journal.lock() as handle:
            noted = self.journal.read(handle)
            for one, other in zip(stored, noted, strict=False):
                if one.entry != other.entry:
                    problem = f"entry {one.entry.number} is not the one in {self.journal.path}: nothing more can be spent"
                    raise DocumentError("ledger", problem, "Find out which is right; see docs/deployment.md, Backups")
            self.journal.append(handle, stored[len(noted) :])
        for one in noted[len(stored) :]:
            _insert(transaction, one)
        # Dates may have been corrected in only one of the two so far: the later date is the safe one.
        latest = [DatedEntry(max(one.at, other.at), one.entry) for one, other in zip(stored, noted, strict=False)]
        return latest + stored[len(noted) :] + noted[len(stored) :]

    def spend(self, transaction: Transaction, one: Round, group: Group, loss: Loss, at: int) -> None:
        """Record what a group spends in a round, in the transaction in which it does so.

        The entry may already exist: the journal has it if an earlier transaction was interrupted.
        """
        entries = self.catch_up(transaction)
        if is_spent(entries, one.id, group):
            return
        last = entries[-1] if entries else None
        entry = ledger_chain.Entry(
            number=len(entries) + 1,
            campaign=one.campaign,
            round=one.id,
            group=group,
            epsilon=str(loss.epsilon),
            delta=str(loss.delta),
            before=last.entry.digest if last else ledger_chain.START,
        )
        # A clock that was set back must not date it too early.
        self.add(transaction, DatedEntry(max(at, last.at if last else at), entry))

    def add(self, transaction: Transaction, one: DatedEntry) -> None:
        """Write an entry to the journal, and then to the database; call `catch_up` first, in the same transaction.

        No other process can have spent in the meantime, unless the database has ended our session, and our lock with it:
        for example, because this machine was suspended.
        """
        with self.journal.lock() as handle:
            noted = self.journal.read(handle)
            if one.entry.before != (noted[-1].entry.digest if noted else ledger_chain.START):
                raise StateError("ledger", "another process has spent in the meantime", "The step will be repeated")
            self.journal.append(handle, [one])
        reached("journal: written")
        _insert(transaction, one)


def stored_entries(transaction: Transaction) -> list[DatedEntry]:
    """All entries in the database, checked."""
    rows = ledger_rows.all_rows(transaction)
    entries = ledger_chain.check((row.entry, row.digest) for row in rows)
    return [DatedEntry(row.at, entry) for row, entry in zip(rows, entries, strict=True)]


def _insert(transaction: Transaction, one: DatedEntry) -> None:
    entry = one.entry
    row = ledger_rows.LedgerRow(entry.number, entry.campaign, entry.round, entry.group, one.at, entry.text(), entry.digest)
    ledger_rows.insert(transaction, row)
