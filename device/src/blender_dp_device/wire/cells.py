"""Cells of a head list: which ones a report may name, and how they are stored, 4 bytes each, little-endian."""

from __future__ import annotations

from collections.abc import Iterable

MAX_CELLS = 10_000
"""The maximum number of cells in one report."""

CELL_BYTES = 4
"""The length of an encoded cell."""

CELL_LIMIT = 1 << (8 * CELL_BYTES)
"""Every cell is below this."""

CELL_TYPE = "<u4"
"""An encoded cell as numpy and Arrow name it."""


def encode_cells(cells: Iterable[int]) -> bytes:
    """The cells of a report as bytes."""
    return b"".join(cell.to_bytes(CELL_BYTES, "little") for cell in cells)
