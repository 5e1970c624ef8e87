"""Published documents, and the reports of rounds that accept no more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from blender_dp.collector.round_states import EXPORTABLE
from blender_dp.collector.storage import object_rows, report_rows, round_rows
from blender_dp.collector.storage.store import Store
from blender_dp.errors import StateError
from blender_dp_device.digests import DocumentDigest
from blender_dp_device.records.reporting_list import ReportingList


@dataclass(eq=False)
class Published:
    """Reads documents and exports reports."""

    store: Store

    def document(self, digest: DocumentDigest, kind: str) -> bytes | None:
        """A published document by its digest."""
        with self.store.read() as transaction:
            return object_rows.find(transaction, digest, kind)

    def reports(self, round_id: str) -> Iterator[bytes]:
        """The reports of a round, piece by piece, as a file that `blender-dp aggregate` reads."""
        pieces = self._reports(round_id)
        return chain([next(pieces)], pieces)  # a refusal is raised now, not when the file is sent

    def _reports(self, round_id: str) -> Iterator[bytes]:
        from blender_dp.collector.storage.parquet_export import parquet_pieces  # noqa: PLC0415 (slow to import)

        with self.store.read() as transaction:
            self.store.extend_limits(transaction, slow_reader=True)
            one = round_rows.get_stored(transaction, round_id)
            if one.state not in EXPORTABLE:
                raise StateError("round", f"is {one.state}", "Only a round that is closed or released can be exported")
            if one.release:
                release = object_rows.find(transaction, one.release, "release")
                if _report_count(release) != report_rows.count(transaction, round_id):
                    raise StateError("round", "its reports were deleted", "Set keep_reports_days of the campaign higher")
            digest = ReportingList.from_document(json.loads(one.listing or "")["head_list"]).digest
            yield from parquet_pieces(transaction, round_id, digest)


def _report_count(release: bytes | None) -> int:
    """The number of reports that a release was made from."""
    return int(json.loads(release or b"")["content"]["release"]["manifest"]["reports"])
