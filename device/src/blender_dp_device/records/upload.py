"""An opt-in user's record as it is sent and stored: always as long as any other, so that its length says nothing."""

from __future__ import annotations

import json

from blender_dp_device.errors import DocumentError
from blender_dp_device.records.canonical import canonical_query, canonical_url
from blender_dp_device.records.personal import usable_record
from blender_dp_device.records.record import Record

RECORD_BYTES = 2_048
"""The length of every record: JSON in UTF-8, padded with spaces. One that does not fit is no record."""

_RAW_BYTES = 4 * RECORD_BYTES  # text that is longer before it is canonical is not even looked at

NO_RECORD = Record(None, None)


def upload_record(query: str | None, url: str | None) -> Record:
    """The canonical record to upload; none if it looks personal, is incomplete or is too long.

    Whoever has no record uploads all the same: how many opt-in users there are is public, and must not depend on anybody's
    record.
    """
    record = usable_record(*canonical_parts(query, url))
    return record if len(_text(record)) <= RECORD_BYTES else NO_RECORD


def canonical_parts(query: str | None, url: str | None) -> Record:
    """Query and URL in canonical form, each by itself; None for one that no uploaded record can have, as it is too long.

    It takes some 0.1 s at most, whatever the texts say; to make canonical again what comes of it takes far less.
    """
    if sum(len((text or "").encode(errors="ignore")) for text in (query, url)) > _RAW_BYTES:
        return NO_RECORD
    forms = canonical_query(query or ""), canonical_url(url or "")
    return Record(*(form if form and len(form.encode()) <= RECORD_BYTES else None for form in forms))


def padded(record: Record) -> bytes:
    """The record as text of `RECORD_BYTES` bytes."""
    return _text(record).ljust(RECORD_BYTES)


def unpadded(text: bytes) -> Record:
    """The record again."""
    try:
        query, url = json.loads(text)
    except (ValueError, TypeError):
        raise DocumentError("record", "is not a query and a URL", "Restore the store from a whole backup") from None
    return Record(query or None, url or None)


def _text(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode()
