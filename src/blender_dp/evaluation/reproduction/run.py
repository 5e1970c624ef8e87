"""Run what some figures need, and turn the results into tables and points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from blender_dp.errors import ParameterError
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.reproduction.curves import RIVALS, curves
from blender_dp.evaluation.reproduction.data import Data, Populations, description, logs
from blender_dp.evaluation.reproduction.figure import Figure, Line, TableFigure
from blender_dp.evaluation.reproduction.finished import Finished
from blender_dp.evaluation.reproduction.results import Results, spread
from blender_dp.evaluation.reproduction.tables import tables
from blender_dp.evaluation.rivals import local_hashing, query_ndcg
from blender_dp.evaluation.runs import Progress, finished_rows, silent
from blender_dp.evaluation.sources import PopulationSource
from blender_dp.sampling import Entropy

_LIST = 10  # queries in Figure 12
_POINTS = pa.schema(
    [
        ("figure", pa.string()), ("panel", pa.string()), ("measure", pa.string()), ("line", pa.string()),
        ("x_axis", pa.string()), ("x", pa.float64()), ("mean", pa.float64()), ("standard_error", pa.float64()),
        ("low", pa.float64()), ("high", pa.float64()), ("seeds", pa.int64()), ("listed", pa.float64()),
        ("max_queries", pa.int64()),
    ]
)  # fmt: skip


def catalogue(log: PopulationSource | None = None) -> dict[str, Figure | TableFigure]:
    """All figures by name, in the order of the papers; those of the 2017 paper last."""
    both = logs(log)
    every: list[Figure | TableFigure] = [*tables(*both), *curves(*both)]
    named = {one.name: one for one in every}
    return {name: named[name] for name in sorted(named, key=_order)}


def chosen(names: Sequence[str], log: PopulationSource | None = None) -> list[Figure | TableFigure]:
    """The figures with these names; `all` is every one."""
    known = catalogue(log)
    if unknown := [name for name in names if name not in known and name != "all"]:
        raise ParameterError("figure", f"{unknown[0]!r} is unknown", "See: blender-dp reproduce list")
    return list(known.values()) if "all" in names else [known[name] for name in dict.fromkeys(names)]


def reproduce(
    figures: Sequence[Figure | TableFigure],
    seeds: int,
    *,
    log: PopulationSource | None = None,
    folder: Path | None = None,
    workers: int = 1,
    progress: Progress = silent,
    step: Callable[[str], None] = lambda _: None,
) -> Iterator[Finished]:
    """Run all cells that the figures need, once, and yield one figure after the other."""
    settings = [setting for one in figures if isinstance(one, Figure) for setting in one.settings]
    rows = finished_rows(settings, seeds, folder=folder, workers=workers, progress=progress)
    if settings:
        step("tables and rivals")
    populations, both = _populations(), logs(log)
    rivals = _run_rivals(populations, both[0], seeds) if _needs_rivals(figures) else {}
    results, about = Results.of(rows, rivals=rivals), description(both)
    for one in figures:
        made = finished(one, results) if isinstance(one, Figure) else _tabulated(one, populations, seeds)
        yield replace(made, seeds=seeds, population=about, is_private=log is not None)


def _tabulated(figure: TableFigure, populations: Populations, seeds: int) -> Finished:
    made = figure.make(populations, seeds)
    return Finished(figure, made.table, made.checked, made.remark)


def finished(figure: Figure, results: Results) -> Finished:
    """A figure with lines: its points, and its claims checked."""
    checked = [(claim.text, claim.source, claim.check(results)) for claim in figure.claims]
    return Finished(figure, pa.Table.from_pylist([*_points(figure, results)], _POINTS), checked, figure.remark(results))


def _populations() -> Populations:
    @lru_cache(maxsize=1)
    def population(source: PopulationSource, seed: int) -> Population:
        return source.population(seed)

    return lambda data, seed: population(data.source, seed if data.source.varies else 0)


def _needs_rivals(figures: Sequence[Figure | TableFigure]) -> bool:
    lines = (line for one in figures if isinstance(one, Figure) for panel in one.panels for line in panel.lines)
    return any(line.rival for line in lines)


def _run_rivals(
    populations: Callable[[Data, int], Population], aol: Data, seeds: int
) -> dict[tuple[str, float], list[float]]:
    reached: dict[tuple[str, float], list[float]] = {}
    for seed in range(seeds):
        population = populations(aol, seed)
        for candidates in RIVALS.values():
            for epsilon in range(1, 6):
                entropy = Entropy.seeded(f"local hashing {candidates} {epsilon} {seed}")
                truth, estimates = local_hashing(population, epsilon, int(candidates), entropy)
                reached.setdefault((candidates, float(epsilon)), []).append(query_ndcg(truth, estimates, _LIST))
    return reached


def _points(figure: Figure, results: Results) -> Iterator[dict[str, Any]]:
    for panel in figure.panels:
        common = {"figure": figure.name, "panel": panel.title, "measure": panel.measure, "x_axis": panel.x}
        for line in panel.lines:
            yield from ({**common, "line": line.label, **point} for point in _line(line, panel.measure, results))


def _line(line: Line, measure: str, results: Results) -> Iterator[dict[str, Any]]:
    for x, value in line.printed.items():
        yield {"x": x, "mean": value}
    if line.rival:
        for (candidates, epsilon), values in results.rivals.items():
            if candidates == line.rival:
                yield {"x": epsilon, **spread(values)}
    for x, setting in line.settings.items():
        length = {"listed": results.mean(setting, "blended", "listed"), "max_queries": setting.parameters.max_queries}
        yield {"x": x, **spread(results.values(setting, line.group, measure)), **length}


def _order(name: str) -> tuple[bool, int]:
    return name.startswith("usenix"), int(name.rsplit("-", 1)[1])
