"""The two bodies that leave a device: a report and an upload. The length of each is the same for all records."""

from __future__ import annotations

import json
from collections.abc import Sequence

from blender_dp_device.digests import DocumentDigest
from blender_dp_device.entropy import system_bytes
from blender_dp_device.records.record import Record
from blender_dp_device.records.upload import RECORD_BYTES

UPLOAD_BYTES = RECORD_BYTES + 256
"""The length of every upload: the record, the receipt and the names of the fields, padded with spaces."""


def report_body(head_list: DocumentDigest, cells: Sequence[int], cell_count: int) -> str:
    """One report with a random id, of the same length as every other report on this list.

    An observer of encrypted traffic learns nothing from its length.
    """
    report = {"id": system_bytes(16).hex(), "head_list": head_list, "cells": list(cells)}
    longest = {**report, "cells": [cell_count - 1] * len(cells)}
    return json.dumps({"reports": [report]}).ljust(len(json.dumps({"reports": [longest]})))


def upload_body(record: Record, receipt: str) -> bytes:
    """A record that `upload_record` has returned, in a body of always the same length."""
    message = {"query": record.query, "url": record.url, "receipt": receipt}
    return json.dumps(message, ensure_ascii=False).encode().ljust(UPLOAD_BYTES)
