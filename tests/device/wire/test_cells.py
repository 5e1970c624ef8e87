"""The encoding of cells, 4 bytes each, little-endian."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp_device.wire.cells import CELL_BYTES, CELL_LIMIT, CELL_TYPE, encode_cells


def test_an_example():
    assert encode_cells([0, 1, 258, CELL_LIMIT - 1]).hex() == "000000000100000002010000ffffffff"


@given(st.lists(st.integers(0, CELL_LIMIT - 1)))
def test_numpy_reads_the_same_cells(cells):
    encoded = encode_cells(cells)
    assert len(encoded) == CELL_BYTES * len(cells)
    assert np.frombuffer(encoded, CELL_TYPE).tolist() == cells


@pytest.mark.parametrize("cell", [-1, CELL_LIMIT])
def test_an_impossible_cell_is_not_encoded(cell):
    with pytest.raises(OverflowError):
        encode_cells([cell])
