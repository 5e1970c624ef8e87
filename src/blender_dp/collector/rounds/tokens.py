"""Tokens of opt-in users and of the operator. Only their digests are stored."""

from __future__ import annotations

from dataclasses import dataclass

from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.secrets import vault
from blender_dp.collector.storage import campaign_rows, token_rows
from blender_dp.collector.storage.store import Store


@dataclass(eq=False)
class Tokens:
    """Enrols opt-in users, and knows the operator's tokens."""

    store: Store
    clock: Clock

    def enrol(self, campaign: str, count: int = 1, tokens: list[str] | None = None) -> list[str]:
        """Enrol opt-in users with these tokens, or with new ones. Return the tokens, which are not stored."""
        tokens = [vault.new_token() for _ in range(count)] if tokens is None else tokens
        with self.store.write("enrolment") as transaction:
            campaign_rows.settings_of(transaction, campaign)
            digests = [vault.token_digest(token) for token in tokens]
            token_rows.insert_opt_in(transaction, digests, campaign, self.clock.hour())
        return tokens

    def operator_digests(self) -> list[str]:
        """The digests of the operator's tokens."""
        with self.store.read() as transaction:
            return token_rows.operator_digests(transaction)
