"""Write reproduced figures: data as CSV and Parquet, pictures as SVG and PNG, and one page of all figures in a folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from blender_dp.evaluation.reproduction.finished import Finished
from blender_dp.evaluation.reproduction.run import catalogue
from blender_dp.evaluation.tables import write_table
from blender_dp.report.figures import chart_of, page_of
from blender_dp.report.lines import png, svg

_PAGE = "index.html"


def write_figures(finished: Sequence[Finished], folder: Path) -> dict[str, Path]:
    """Write five files per figure, and the page; then remove the cells that were stored for an interrupted run.

    The page also has the figures that the folder already contains, each with its own number of seeds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for one in finished:
        name, chart = one.figure.name, chart_of(one)
        write_table(one.table, folder / f"{name}.csv")
        write_table(one.table, folder / f"{name}.parquet")
        (folder / f"{name}.svg").write_text(svg(chart), encoding="utf-8")
        (folder / f"{name}.png").write_bytes(png(chart))
        (folder / f"{name}.json").write_text(json.dumps(one.to_document(), ensure_ascii=False, indent=1), encoding="utf-8")
    page = page_of([*_all_in(folder)])
    (folder / _PAGE).write_text(page, encoding="utf-8")
    shutil.rmtree(folder / ".cells", ignore_errors=True)
    return {"page": folder / _PAGE, "data and pictures": folder / "*.{csv,parquet,svg,png,json}"}


def _all_in(folder: Path) -> Iterator[Finished]:
    """The figures of a folder, in the order of the papers. One that cannot be read is left out."""
    for name, figure in catalogue().items():
        try:
            document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            yield Finished.of_document(document, figure, pa.parquet.read_table(folder / f"{name}.parquet"))
        except (OSError, ValueError, KeyError, TypeError):
            continue
