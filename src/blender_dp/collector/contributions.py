"""Campaigns, and what people contribute to them: enrolment, raw records of opt-in users, reports of clients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from blender_dp.collector import vault
from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.found import find, settings_of
from blender_dp.collector.keys import KeyFolder
from blender_dp.collector.schema import campaigns, records, rounds, tokens
from blender_dp.collector.store import Store
from blender_dp.entropy import system_bytes
from blender_dp.errors import StateError
from blender_dp.records.personal import usable_record

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

    def upload_record(self, name: str, token: str, query: str, url: str | None, receipt: str | None = None) -> str:
        """Keep an opt-in user's raw record, encrypted, until the list is made; a second one replaces the first.

        Of a record that looks personal, or is none, only the user is kept: how many there are is public, and must not
        depend on anybody's record. Whoever draws the receipt can take the record back even if the answer is lost.
        """
        receipt, record = receipt or vault.new_token(), usable_record(query, url)
        with self.store.write("record") as connection:
            self._hold(connection, name, shared=True)
            row = connection.execute(sa.select(rounds).where(rounds.c.id == name)).one_or_none()
            if row is None or not self._enrolled(connection, token, row.campaign):
                raise StateError("record", "this round knows no such opt-in user", "Enrol first", kind="forbidden")
            if row.state != "open":
                raise StateError("round", f"is {row.state}, not open", "Wait for the next round")
            owner = vault.token_digest(token, name)
            sealed = vault.seal_record(self.keys.read(name), f"{name}/{owner}", record.query or "", record.url)
            kept = {"receipt": vault.token_digest(receipt), "round": name, "owner": owner, "sealed": sealed}
            self._keep_record(connection, kept)
        return receipt

    def withdraw(self, receipt: str) -> bool:
        """Take a raw record back, as long as its list is not being made; whether it was there."""
        known = records.c.receipt == vault.token_digest(receipt)
        with self.store.write("withdrawal") as connection:
            name = connection.scalar(sa.select(records.c.round).where(known))
            if name is None:
                return False
            self._hold(connection, name, shared=True)
            if find(connection, name).state != "open":
                return False
            deleted = connection.execute(records.delete().where(known))
        if deleted.rowcount:
            self.store.forget_deleted()
        return deleted.rowcount == 1

    def add_reports(self, name: str, arrived: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep reports, each an id and its cells; one whose id is there already changes nothing."""
        with self.store.write("reports") as connection:
            self._hold(connection, name, shared=True)
            if find(connection, name).state != "listed":
                raise StateError("round", "does not take reports", "Ask for the current round")
            self.store.insert_reports(connection, name, arrived)

    def _keep_record(self, connection: Connection, kept: dict[str, Any]) -> None:
        """Put a record in place of its owner's earlier one; a receipt that takes back another record is refused."""
        self.store.hold(connection, f"receipt/{kept['receipt']}")
        known = sa.select(records.c.round, records.c.owner).where(records.c.receipt == kept["receipt"])
        found = connection.execute(known).one_or_none()
        if found is not None and tuple(found) != (kept["round"], kept["owner"]):
            raise StateError("receipt", "is another record's", "Draw another one: 32 random bytes")
        self.store.put(connection, records, kept, unique=("round", "owner"))

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


def new_id() -> str:
    """A name for a campaign or a round."""
    return system_bytes(16).hex()
