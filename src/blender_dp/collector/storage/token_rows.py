"""Rows of tokens, which are stored as digests only."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from blender_dp.collector.storage.schema import tokens
from blender_dp.collector.storage.transactions import Transaction

_ENROLLED = sa.select(tokens.c.digest).where(
    tokens.c.digest == sa.bindparam("token"), tokens.c.role == "opt-in", tokens.c.campaign == sa.bindparam("one")
)


def insert_opt_in(transaction: Transaction, digests: Iterable[str], campaign_id: str, created: int) -> None:
    """Enrol opt-in users in a campaign."""
    rows = [{"digest": one, "role": "opt-in", "campaign": campaign_id, "created": created} for one in digests]
    transaction.execute(tokens.insert(), rows)


def is_enrolled(transaction: Transaction, digest: str, campaign_id: str) -> bool:
    """Whether this is the token of an opt-in user of a campaign."""
    return transaction.scalar(_ENROLLED, {"token": digest, "one": campaign_id}) is not None


def insert_operator(transaction: Transaction, digest: str) -> None:
    """Store the operator's token."""
    transaction.execute(tokens.insert(), {"digest": digest, "role": "operator", "campaign": None, "created": 0})


def operator_digests(transaction: Transaction) -> list[str]:
    """The digests of the operator's tokens."""
    return list(transaction.scalars(sa.select(tokens.c.digest).where(tokens.c.role == "operator")))
