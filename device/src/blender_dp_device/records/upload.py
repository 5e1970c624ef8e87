"""The form in which an opt-in user's record is sent and stored: padded, so that its length reveals nothing."""

from __future__ import annotations

import json

from blender_dp_device.records.canonical import canonical_query, canonical_url
from blender_dp_device.records.personal import usable_record
from blender_dp_device.records.record import Record

RECORD_BYTES = 2_048
"""The length of every record: JSON in UTF-8, padded with spaces. A longer one is treated as no record."""

_RAW_BYTES = 4 * RECORD_BYTES  # longer raw strings are not even read

NO_RECORD = Record(None, None)


def upload_record(query: str | None, url: str | None) -> Record:
    """Return the canonical record to upload, or no record if it looks personal, is incomplete or is too long.

    "No record" is uploaded, too: the number of opt-in users is public, and must not depend on anyone's record.
    """
    record = usable_record(*canonical_parts(query, url))
    return record if len(record_json(record)) <= RECORD_BYTES else NO_RECORD


def usable_records(query: str | None, url: str | None) -> dict[int, Record]:
    """Return the usable record for a list of one level and for a list of two."""
    parts = canonical_parts(query, url)
    return {levels: usable_record(*parts, levels=levels) for levels in (1, 2)}


def canonical_parts(query: str | None, url: str | None) -> Record:
    """Return query and URL in canonical form, each by itself; None for one that is too long for any upload.

    It takes at most about 0.1 s, whatever the strings are; canonicalising the result again takes far less.
    """
    if sum(len((text or "").encode(errors="ignore")) for text in (query, url)) > _RAW_BYTES:
        return NO_RECORD
    forms = canonical_query(query or ""), canonical_url(url or "")
    return Record(*(form if form and len(form.encode()) <= RECORD_BYTES else None for form in forms))


def record_json(record: Record) -> bytes:
    """A record as JSON; it is padded to `RECORD_BYTES` before it is uploaded or stored."""
    return json.dumps(record, ensure_ascii=False).encode()
