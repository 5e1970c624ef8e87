"""Write reproduced figures: data as CSV and Parquet, pictures as SVG and PNG, and the page."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from blender_dp.evaluation.reproduction.run import Finished
from blender_dp.evaluation.tables import write_table
from blender_dp.report.figures import chart_of, page_of
from blender_dp.report.lines import png, svg

_PAGE = "index.html"


def write_figures(finished: Sequence[Finished], folder: Path, seeds: int, population: str) -> dict[str, Path]:
    """Write four files per figure and one page; then remove the cells that were stored for an interrupted run."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in finished:
        name, chart = one.figure.name, chart_of(one)
        write_table(one.table, folder / f"{name}.csv")
        write_table(one.table, folder / f"{name}.parquet")
        (folder / f"{name}.svg").write_text(svg(chart), encoding="utf-8")
        (folder / f"{name}.png").write_bytes(png(chart))
    (folder / _PAGE).write_text(page_of(finished, seeds, population), encoding="utf-8")
    shutil.rmtree(folder / ".cells", ignore_errors=True)
    return {"page": folder / _PAGE, "data and pictures": folder / "*.{csv,parquet,svg,png}"}
