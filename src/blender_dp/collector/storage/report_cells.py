"""The cells of a round's reports as arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from blender_dp.collector.storage import report_rows
from blender_dp.collector.storage.transactions import Transaction
from blender_dp.errors import DocumentError
from blender_dp_device.wire.cells import CELL_BYTES, CELL_TYPE

DAMAGED = DocumentError("reports", "one names a cell that the list does not have", "Abort the round")

_BATCH = 1 << 16  # reports in memory, and in a row group of an export


def cells_of(transaction: Transaction, round_id: str, *, ordered: bool = False) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    """The cells of the reports in batches, each with its number of reports."""
    for batch in report_rows.cells_in_batches(transaction, round_id, _BATCH, ordered=ordered):
        cells = b"".join(batch)
        if len(cells) % CELL_BYTES:
            raise DAMAGED
        yield len(batch), np.frombuffer(cells, CELL_TYPE)
