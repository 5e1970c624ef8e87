"""Evaluate your own grid of parameters, on shapes or on your own log."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from blender_dp.evaluation.grid import Grid
from blender_dp.evaluation.runs import Progress, run_settings, silent
from blender_dp.evaluation.summary import summarise


def evaluate(
    source: str | list[str] = "aol",
    *,
    opt_in: Any = "0.05",  # noqa: ANN401 (one number or several, like every axis)
    seeds: int = 5,
    users: int | None = None,
    workers: int = 1,
    progress: Progress = silent,
    **parameters: Any,  # noqa: ANN401 (the parameters of `Blender`, each with one value or a list of values)
) -> pa.Table:
    """Run every combination with every seed, and return the mean and standard error of every measure.

    Every argument may be one value or a list: `evaluate("aol", epsilon=[1, 2, 4], delta="1e-5", profile=["paper"])`.
    `source` is a shape (`aol`, `yandex`, `zipf:1.1`), a release or a log. The table has one row for every setting, group
    (`opt-in`, `client`, `blended`) and measure. More than one of the `workers` are processes of their own, and a script
    that uses them must start its work under `if __name__ == "__main__"`.
    """
    grid = Grid.of({"source": source, "opt_in": opt_in, "seeds": seeds, "users": users, **parameters})
    return summarise(run_settings(grid.settings, grid.seeds, workers=workers, progress=progress))
