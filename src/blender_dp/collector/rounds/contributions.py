"""Contributions to rounds: raw records from opt-in users, and reports from clients."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from blender_dp.collector.secrets import vault
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.storage import locks, record_rows, report_rows, round_rows, token_rows
from blender_dp.collector.storage.record_rows import SealedRecord
from blender_dp.collector.storage.report_rows import Report
from blender_dp.collector.storage.store import Store
from blender_dp.collector.storage.transactions import Transaction
from blender_dp.errors import StateError
from blender_dp_device.records.upload import upload_record


@dataclass(eq=False)
class Contributions:
    """Stores and withdraws contributions."""

    store: Store
    keys: KeyFolder

    def upload_record(
        self, round_id: str, token: str, query: str | None, url: str | None, receipt: str | None = None
    ) -> str:
        """Store an opt-in user's raw record, encrypted, until the list is made; a second one replaces the first.

        Of a record that looks personal, is too long or is missing, only the user is stored: the number of users is public,
        and must not depend on anyone's record. A client that draws the receipt itself can withdraw the record even if the
        response is lost.
        """
        receipt, record = receipt or vault.new_token(), upload_record(query, url)
        with self.store.write("record") as transaction:
            locks.hold_round(transaction, round_id, shared=True)
            one = round_rows.find_stored(transaction, round_id)
            if one is None or not token_rows.is_enrolled(transaction, vault.token_digest(token), one.campaign):
                raise StateError("record", "this token is not enrolled in this round", "Enrol first", kind="forbidden")
            if one.state != "open":
                raise StateError("round", f"is {one.state}, not open", "Wait for the next round")
            if not self.keys.has(round_id):  # the database was restored: the list was made, and the key destroyed
                raise StateError("round", "accepts no more records: its key is gone", "Wait for the next round")
            owner = vault.token_digest(token, round_id)
            sealed = vault.seal_record(self.keys.read(round_id), f"{round_id}/{owner}", record)
            _put(transaction, SealedRecord(vault.token_digest(receipt), round_id, owner, sealed))
        return receipt

    def count_records(self, round_id: str) -> int:
        """The number of opt-in users who have contributed to a round."""
        with self.store.read() as transaction:
            return record_rows.count(transaction, round_id)

    def count_reports(self, round_id: str) -> int:
        """The number of a round's stored reports. Counting millions takes seconds."""
        with self.store.read() as transaction:
            return report_rows.count(transaction, round_id)

    def withdraw(self, receipt: str) -> bool:
        """Withdraw a raw record unless its list is being made; return whether it is withdrawn, now or earlier.

        The user no longer participates in the round: an upload that is still under way must not restore the record.
        """
        digest = vault.token_digest(receipt)
        with self.store.write("withdrawal") as transaction:
            place = record_rows.round_and_owner(transaction, digest)
            if place is None:
                return False
            locks.hold_round(transaction, place[0], shared=True)
            if round_rows.get(transaction, place[0]).state != "open":
                return False
            locks.hold_record(transaction, *place, digest)
            deleted = record_rows.withdraw(transaction, *place, digest)
            is_withdrawn = record_rows.is_withdrawn(transaction, *place, digest)
        if deleted:
            self.store.purge_deleted()
        return is_withdrawn

    def add_reports(self, round_id: str, reports: Iterable[Report]) -> None:
        """Store reports; those whose ids already exist are ignored."""
        with self.store.write("reports") as transaction:
            locks.hold_round(transaction, round_id, shared=True)
            if round_rows.get(transaction, round_id).state != "listed":
                raise StateError("round", "does not accept reports", "Ask for the current round")
            report_rows.insert(transaction, round_id, reports)


def _put(transaction: Transaction, record: SealedRecord) -> None:
    """Replace an owner's earlier record; a receipt that belongs to another record is refused."""
    place = record.round, record.owner
    locks.hold_record(transaction, *place, record.receipt)
    if record_rows.is_withdrawn(transaction, *place, record.receipt):
        raise StateError("record", "was withdrawn in this round", "Wait for the next round")
    if record_rows.round_and_owner(transaction, record.receipt) not in {None, place}:
        raise StateError("receipt", "belongs to another record", "Draw another one: 32 random bytes")
    record_rows.put(transaction, record)
