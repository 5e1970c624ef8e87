from __future__ import annotations

import numpy as np
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


def test_rows_get_the_default_column_names():
    rows = iter([(1, "a", "x"), ("2", "b", None)])
    assert as_table(rows).to_pydict() == {"user": ["1", "2"], "query": ["a", "b"], "url": ["x", None]}
    assert as_table([]).num_rows == 0


@pytest.mark.parametrize("row", [("1", "a"), ("1", "a", "x", "y"), 3, None, "abc", {"user": 1, "query": 2, "url": 3}])
def test_the_error_names_a_row_with_the_wrong_shape(row):
    with pytest.raises(LogError, match="clients: row 1 is not a tuple or list of 3 values"):
        as_table([("1", "a", "x"), row], "clients")


def test_missing_values_become_null():
    assert as_table([(np.int64(7), float("nan"), None)]).to_pylist() == [{"user": "7", "query": None, "url": None}]


def test_unpaired_surrogates_are_removed_as_on_a_device():
    assert as_table([("1", "a\ud800b", "x")])["query"].to_pylist() == ["ab"]


@pytest.mark.parametrize("value", [b"bytes", 1.5, ["list"]])
def test_a_value_of_another_type_is_refused(value):
    with pytest.raises(LogError, match="row 0 contains a"):
        as_table([("1", value, "x")])


@pytest.mark.parametrize("data", [7, "text", b"bytes", {"user": []}, pl.LazyFrame({"user": []}), pd.Series([1])])
def test_other_objects_are_refused(data):
    with pytest.raises(LogError, match="opt_in: "):
        as_table(data, "opt_in")


def test_an_invalid_frame_is_refused_without_quoting_it():
    invalid = pa.array([b"my secret \xff"], pa.binary()).view(pa.string())
    with pytest.raises(LogError, match="not UTF-8") as caught:
        as_table(pa.table({"user": ["1"], "query": invalid, "url": ["x"]}))
    assert "secret" not in str(caught.value)
    with pytest.raises(LogError, match="valid table"):
        as_table(pd.DataFrame({"user": ["1", 2.5], "query": [b"x", "y"], "url": ["x", "y"]}))
    with pytest.raises(LogError, match="two columns with the same name"):
        as_table(pa.table([["1"], ["2"]], names=["user", "user"]))
