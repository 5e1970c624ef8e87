"""Run many cells: in several processes, with progress, and from where an interrupted run stopped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from blender_dp.evaluation.cells import ROWS, run_cells
from blender_dp.evaluation.code_digest import code_digest
from blender_dp.evaluation.grid import Setting, by_population
from blender_dp.evaluation.processes import processes
from blender_dp.evaluation.sources import PopulationSource

Progress = Callable[[int, int], None]
Rows = list[dict[str, Any]]
_COMPLETE = {"cell", *ROWS.names}


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def silent(_done: int, _all: int) -> None:
    """Ignore progress."""


def run_settings(
    settings: Iterable[Setting], seeds: int, *, folder: Path | None = None, workers: int = 1, progress: Progress = silent
) -> pa.Table:
    """Run every setting with every seed, and return one row per setting, seed and group: see `finished_rows`."""
    rows = finished_rows(settings, seeds, folder=folder, workers=workers, progress=progress)
    return pa.Table.from_pylist([{name: row[name] for name in ROWS.names} for row in rows], ROWS)


def finished_rows(
    settings: Iterable[Setting], seeds: int, *, folder: Path | None = None, workers: int = 1, progress: Progress = silent
) -> Rows:
    """Run every setting with every seed. Besides the columns of `ROWS`, every row has the name of its setting, `cell`.

    With a `folder`, every finished cell is written to it, and cells that it already has are not run again. `progress`
    gets the number of finished cells and the number of all cells. More than one of the `workers` are processes of their
    own, which import the calling program: a script must start its work under `if __name__ == "__main__"`.
    """
    jobs = list(by_population(dict.fromkeys(settings), seeds))
    total = sum(len(here) for _, _, here in jobs)
    rows: Rows = []
    with closing(_finished(jobs, folder, workers)) as parts:
        for done, finished in enumerate(parts, 1):
            rows += finished
            progress(done, total)
    return sorted(rows, key=lambda row: (row["seed"], row["cell"]))


def _finished(jobs: list[tuple[PopulationSource, int, list[Setting]]], folder: Path | None, workers: int) -> Generator[Rows]:
    """The rows of one cell after the other, in any order."""
    if workers == 1:
        for source, seed, settings in jobs:
            yield from run_job(source, seed, settings, folder)
        return
    with processes(workers) as pool:
        waiting: set[Future[list[Rows]]] = {
            pool.submit(_part, source, seed, settings, folder) for source, seed, settings in jobs
        }
        while waiting:
            ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in ready:
                yield from future.result()


def _part(source: PopulationSource, seed: int, settings: list[Setting], folder: Path | None) -> list[Rows]:
    return list(run_job(source, seed, settings, folder))


def run_job(source: PopulationSource, seed: int, settings: list[Setting], folder: Path | None) -> Iterator[Rows]:
    """The rows of every setting on one population, from the folder if it has them."""
    keys = {setting: _key(setting, seed) for setting in settings}
    path = None if folder is None else folder / f"{_digest(str(source))[:12]}-{seed}.jsonl"
    known = {} if path is None else _read(path)
    missing = []
    for setting, key in keys.items():
        if key in known:
            yield known[key]
        else:
            missing.append(setting)
    for setting, rows in run_cells(source, seed, missing) if missing else ():
        named = [{"cell": setting.name, **row} for row in rows]
        if path is not None:
            _append(path, keys[setting], named)
        yield named


def _key(setting: Setting, seed: int) -> str:
    """Changes with everything that changes the result: the code, the setting, the log."""
    return _digest(f"{code_digest()} {ROWS.names} {setting.name} {setting.source.fingerprint()} {seed}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _append(path: Path, key: str, rows: Rows) -> None:
    """Write one line per cell. It starts a new line, in case an interruption cut off the last one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({"key": key, "rows": rows}, allow_nan=False))


def _is_row(value: object) -> bool:
    return isinstance(value, dict) and value.keys() >= _COMPLETE


def _read(path: Path) -> dict[str, Rows]:
    """The cells of one file. A line that was cut off is not JSON, and a damaged one is not a cell: both are run again."""
    cells: dict[str, Rows] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n") if path.exists() else ():
        try:
            cell = json.loads(line)
        except ValueError:
            continue
        match cell:
            case {"key": str(key), "rows": [*rows]} if all(map(_is_row, rows)):
                cells[key] = rows
    return cells
