"""Campaigns, and what people contribute to them: enrolment, raw records of opt-in users, reports of clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.secrets import vault
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.storage.round_rows import find, settings_of
from blender_dp.collector.storage.schema import campaigns, records, rounds, tokens, withdrawals
from blender_dp.collector.storage.store import Store
from blender_dp.errors import StateError
from blender_dp_device.entropy import system_bytes
from blender_dp_device.records.upload import upload_record

ROUNDED_SECONDS = 3600
"""A time that is kept is no more exact than this."""


class Contributions:
    """What can be put into rounds, and taken back."""

    store: Store
    keys: KeyFolder
    clock: Callable[[], float]

    def create_campaign(self, settings: CampaignSettings) -> str:
        """Begin a campaign; its name must be new."""
        name = new_id()
        with self.store.write("campaign") as connection:
            self.store.hold(connection, "campaigns")
            if connection.scalar(sa.select(campaigns.c.id).where(campaigns.c.name == settings.name)):
                raise StateError("campaign", "one of this name is there already", "Take another name")
            row = {"id": name, "name": settings.name, "settings": settings.model_dump_json(), "created": self._now()}
            connection.execute(campaigns.insert(), row)
        return name

    def enrol(self, campaign: str, count: int = 1, made: list[str] | None = None) -> list[str]:
        """Tokens for opt-in users, new ones or those that were made; to be handed out and forgotten."""
        made = [vault.new_token() for _ in range(count)] if made is None else made
        rows = [
            {"digest": vault.token_digest(token), "role": "opt-in", "campaign": campaign, "created": self._now()}
            for token in made
        ]
        with self.store.write("enrolment") as connection:
            settings_of(connection, campaign)
            connection.execute(tokens.insert(), rows)
        return made

    def upload_record(self, name: str, token: str, query: str | None, url: str | None, receipt: str | None = None) -> str:
        """Keep an opt-in user's raw record, encrypted, until the list is made; a second one replaces the first.

        Of a record that looks personal, is too long or is missing only the user is kept: how many there are is public, and
        must not depend on anybody's record. Whoever draws the receipt can take the record back even if the answer is lost.
        """
        receipt, record = receipt or vault.new_token(), upload_record(query, url)
        with self.store.write("record") as connection:
            self._hold(connection, name, shared=True)
            row = connection.execute(sa.select(rounds).where(rounds.c.id == name)).one_or_none()
            if row is None or not self._enrolled(connection, token, row.campaign):
                raise StateError("record", "this round knows no such opt-in user", "Enrol first", kind="forbidden")
            if row.state != "open":
                raise StateError("round", f"is {row.state}, not open", "Wait for the next round")
            if not self.keys.has(name):  # the database was restored: the list was made, and the key destroyed
                raise StateError("round", "takes no more records: its key is gone", "Wait for the next round")
            owner = vault.token_digest(token, name)
            sealed = vault.seal_record(self.keys.read(name), f"{name}/{owner}", record)
            kept = {"receipt": vault.token_digest(receipt), "round": name, "owner": owner, "sealed": sealed}
            self._keep_record(connection, kept)
        return receipt

    def withdraw(self, receipt: str) -> bool:
        """Take a raw record back, as long as its list is not being made; whether it is withdrawn, now or before.

        Its user takes no more part in the round: an upload that is still under way must not bring the record back.
        """
        digest = vault.token_digest(receipt)
        with self.store.write("withdrawal") as connection:
            found = _of_receipt(connection, digest)
            if found is None:
                return False
            self._hold(connection, found.round, shared=True)
            if find(connection, found.round).state != "open":
                return False
            self._hold_record(connection, found.round, found.owner, digest)
            deleted = connection.execute(records.delete().where(records.c.receipt == digest))
            if deleted.rowcount:
                row = {"receipt": digest, "round": found.round, "owner": found.owner}
                connection.execute(withdrawals.insert(), row)
            withdrawn = _is_withdrawn(connection, found.round, found.owner, digest)
        if deleted.rowcount:
            self.store.forget_deleted()
        return withdrawn

    def add_reports(self, name: str, arrived: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep reports, each an id and its cells; one whose id is there already changes nothing."""
        with self.store.write("reports") as connection:
            self._hold(connection, name, shared=True)
            if find(connection, name).state != "listed":
                raise StateError("round", "does not take reports", "Ask for the current round")
            self.store.insert_reports(connection, name, arrived)

    def _keep_record(self, connection: Connection, kept: dict[str, Any]) -> None:
        """Put a record in place of its owner's earlier one; a receipt that takes back another record is refused."""
        name, owner, receipt = kept["round"], kept["owner"], kept["receipt"]
        self._hold_record(connection, name, owner, receipt)
        if _is_withdrawn(connection, name, owner, receipt):
            raise StateError("record", "was withdrawn in this round", "Wait for the next round")
        found = _of_receipt(connection, receipt)
        if found is not None and (found.round, found.owner) != (name, owner):
            raise StateError("receipt", "is another record's", "Draw another one: 32 random bytes")
        self.store.put(connection, records, kept, unique=("round", "owner"))

    def _hold_record(self, connection: Connection, name: str, owner: str, receipt: str) -> None:
        """Let nobody else put, replace or withdraw this user's record, or use its receipt, until the transaction ends."""
        self.store.hold(connection, f"record/{name}/{owner}")
        self.store.hold(connection, f"receipt/{receipt}")

    def _enrolled(self, connection: Connection, token: str, campaign: str) -> bool:
        found = connection.execute(
            sa.select(tokens.c.digest).where(
                tokens.c.digest == vault.token_digest(token), tokens.c.role == "opt-in", tokens.c.campaign == campaign
            )
        ).one_or_none()
        return found is not None

    def _hold(self, connection: Connection, name: str, *, shared: bool = False) -> None:
        """Keep a round as it is until the transaction ends: shared by who adds to it, alone by who moves it on."""
        self.store.hold(connection, f"round/{name}", shared=shared)

    def _now(self) -> int:
        return int(self.clock()) // ROUNDED_SECONDS * ROUNDED_SECONDS


def _of_receipt(connection: Connection, receipt: str) -> sa.Row[Any, Any] | None:
    """The round and the owner of the record, stored or withdrawn, that a receipt belongs to; the receipt as a digest."""
    for table in (records, withdrawals):
        chosen = sa.select(table.c.round, table.c.owner).where(table.c.receipt == receipt)
        if found := connection.execute(chosen).one_or_none():
            return found
    return None


def _is_withdrawn(connection: Connection, name: str, owner: str, receipt: str) -> bool:
    """Whether this user has withdrawn from this round, or this receipt was used for it."""
    own = sa.and_(withdrawals.c.round == name, withdrawals.c.owner == owner)
    chosen = sa.select(withdrawals.c.receipt).where(sa.or_(own, withdrawals.c.receipt == receipt)).limit(1)
    return connection.scalar(chosen) is not None


def new_id() -> str:
    """A name for a campaign or a round."""
    return system_bytes(16).hex()
