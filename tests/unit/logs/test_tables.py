from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from blender_dp import LogError
from blender_dp.logs import as_table

COLUMNS = {"user": ["1", "2"], "query": ["a", "b"], "url": ["x", "y"]}


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame, lambda c: pa.table(c).to_reader()])
def test_frames_keep_their_columns(make):
    assert as_table(make(COLUMNS)).select(["user", "query", "url"]).to_pydict() == COLUMNS


def test_rows_get_the_plain_names():
    rows = iter([(1, "a", "x"), ("2", "b", None)])
    assert as_table(rows).to_pydict() == {"user": ["1", "2"], "query": ["a", "b"], "url": ["x", None]}
    assert as_table([]).num_rows == 0


@pytest.mark.parametrize("row", [("1", "a"), ("1", "a", "x", "y"), 3, None])
def test_a_row_of_another_shape_is_named(row):
    with pytest.raises(LogError, match="clients: row 1 does not have 3 values"):
        as_table([("1", "a", "x"), row], "clients")


def test_what_is_no_table_is_refused():
    with pytest.raises(LogError, match="opt_in: int is no table"):
        as_table(7, "opt_in")
