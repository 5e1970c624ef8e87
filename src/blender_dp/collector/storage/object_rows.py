"""Rows of published documents, by their digests. They never change."""

from __future__ import annotations

import sqlalchemy as sa

from blender_dp.collector.storage.schema import objects
from blender_dp.collector.storage.transactions import Transaction
from blender_dp.collector.storage.upsert import insert_new
from blender_dp_device.digests import DocumentDigest


def insert(transaction: Transaction, digest: DocumentDigest, kind: str, body: bytes) -> None:
    """Publish a document, unless it is already published."""
    insert_new(transaction, objects, [{"digest": digest, "kind": kind, "body": body}])


def find(transaction: Transaction, digest: DocumentDigest, kind: str) -> bytes | None:
    """The document of this kind with this digest; None if it does not exist."""
    chosen = sa.select(objects.c.body).where(objects.c.digest == digest, objects.c.kind == kind)
    body: bytes | None = transaction.scalar(chosen)
    return body
