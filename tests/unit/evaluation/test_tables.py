from __future__ import annotations

import json
from contextlib import suppress

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from blender_dp import ParameterError
from blender_dp.evaluation.tables import cells_folder, check_suffix, write_table

TABLE = pa.table({"a": [1, 2], "b": ["x", "ε"]})


def test_the_suffix_chooses_the_format(tmp_path):
    for suffix in ("csv", "parquet", "json"):
        write_table(TABLE, tmp_path / "new" / f"table.{suffix}")
    assert pa.csv.read_csv(tmp_path / "new/table.csv").equals(TABLE)
    assert pa.parquet.read_table(tmp_path / "new/table.parquet").equals(TABLE)
    assert json.loads((tmp_path / "new/table.json").read_text()) == TABLE.to_pylist()


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"\.csv"):
        write_table(TABLE, tmp_path / "table.xlsx")


def test_the_name_of_a_folder_is_refused_before_any_work(tmp_path):
    (tmp_path / "table.csv").mkdir()
    with pytest.raises(ParameterError, match="is a folder"):
        check_suffix(tmp_path / "table.csv")


def interrupted(out):
    with suppress(KeyboardInterrupt), cells_folder(out) as folder:
        folder.mkdir()
        raise KeyboardInterrupt
    return folder


def test_finished_cells_are_kept_until_the_work_succeeds(tmp_path):
    out = tmp_path / "table.csv"
    folder = interrupted(out)
    assert folder.exists()
    with cells_folder(out) as folder:
        assert folder.exists()
    assert not folder.exists()
    with cells_folder(None) as folder:
        assert folder is None
