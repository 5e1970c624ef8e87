"""Checks reports against the head list that they refer to."""

from __future__ import annotations

import numpy as np

from blender_dp.collector.http.report_body import Report as Message
from blender_dp.collector.storage.report_rows import Report
from blender_dp_device.digests import DocumentDigest
from blender_dp_device.records.reporting_list import ReportingList
from blender_dp_device.wire.cells import encode_cells
from blender_dp_device.wire.messages import Reason


class ReportCheck:
    """What valid reports of one round look like.

    They name the signed document, not the list in it, because two rounds may publish equal lists.
    """

    def __init__(self, document: DocumentDigest, published: ReportingList) -> None:
        head_list = published.head_list
        self._document = document
        self._size = published.report_size
        self._cells = head_list.cell_count
        self._query_of = np.repeat(np.arange(len(head_list) + 1), head_list.url_counts).tolist()

    def sort_out(self, messages: list[Message | None]) -> tuple[list[Report], list[tuple[int, Reason]]]:
        """The reports to store, and the indices of the refused ones with the reasons."""
        reasons = [self.problem(one) if one else "malformed" for one in messages]
        accepted = [self.encoded(one) for one, reason in zip(messages, reasons, strict=True) if one and reason is None]
        return accepted, [(index, reason) for index, reason in enumerate(reasons) if reason]

    def problem(self, report: Message) -> Reason | None:
        """Why a report is refused; None if it is not."""
        if report.head_list != self._document:
            return "another head list"
        if len(report.cells) != self._size:
            return "wrong number of cells"
        if max(report.cells) >= self._cells:
            return "no such cell"
        if report.cells != sorted(report.cells):
            return "not sorted"  # their order could reveal the true one
        if self._size > 1 and len({self._query_of[cell] for cell in report.cells}) < self._size:
            return "a query twice"
        return None

    def encoded(self, report: Message) -> Report:
        """The report as it is stored."""
        return bytes.fromhex(report.id), encode_cells(report.cells)
