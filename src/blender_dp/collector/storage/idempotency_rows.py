"""Rows of responses to requests that carried an Idempotency-Key."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from blender_dp.collector.storage.schema import answers
from blender_dp.collector.storage.transactions import Transaction


@dataclass(frozen=True)
class StoredResponse:
    """The response to the first request with a key."""

    request: str
    """The digest of that request."""
    status: int
    body: str


def find(transaction: Transaction, key: str) -> StoredResponse | None:
    """The response that is stored for a key."""
    columns = answers.c.request, answers.c.status, answers.c.body
    row = transaction.execute(sa.select(*columns).where(answers.c.key == key)).one_or_none()
    return StoredResponse(**row._mapping) if row else None


def insert(transaction: Transaction, key: str, response: StoredResponse, created: int) -> None:
    """Store the response for a key."""
    row = {"key": key, "request": response.request, "status": response.status, "body": response.body, "created": created}
    transaction.execute(answers.insert(), row)
