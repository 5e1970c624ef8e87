"""Write tables as CSV, Parquet or JSON, by the suffix of the file, and keep finished cells until they are written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from blender_dp.errors import ParameterError
from blender_dp.release.files import write_atomically

_SUFFIXES = (".csv", ".parquet", ".json")


def check_suffix(path: Path) -> None:
    """Refuse a file whose format is unknown, or whose name is taken by a folder, before any work is done."""
    if path.suffix not in _SUFFIXES:
        raise ParameterError("out", f"{path.name!r} has no known format", f"Use a name that ends in {', '.join(_SUFFIXES)}")
    if path.is_dir():
        raise ParameterError("out", f"{path.name!r} is a folder", "Use the name of a file")


def write_table(table: pa.Table, path: Path) -> None:
    """Write the whole table, or nothing."""
    check_suffix(path)

    def write(target: Path) -> None:
        if path.suffix == ".csv":
            pa.csv.write_csv(table, target)
        elif path.suffix == ".parquet":
            pa.parquet.write_table(table, target)
        else:
            target.write_text(json.dumps(table.to_pylist(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, write)


@contextmanager
def cells_folder(out: Path | None) -> Iterator[Path | None]:
    """The folder for the finished cells of an output file: removed with success, kept for the next attempt otherwise."""
    if out is None:
        yield None
        return
    folder = out.with_name(f".{out.name}.cells")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
