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
from blender_dp.evaluation.processes import processes, tick
from blender_dp.evaluation.sources import PopulationSource
from blender_dp_device.records.checks import at_least_one

Progress = Callable[[int, int], None]
Rows = list[dict[str, Any]]
Job = tuple[PopulationSource, int, list[Setting]]
"""Settings to run on the population of one seed."""

_LOOK = 0.2  # seconds between two looks at the progress


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
    at_least_one(workers, "workers")
    jobs = _divided(list(by_population(dict.fromkeys(settings), at_least_one(seeds, "seeds"))), workers)
    total = sum(len(here) for _, _, here in jobs)
    rows: Rows = []
    with closing(_finished(jobs, folder, workers, lambda done: progress(done, total))) as cells:
        for finished in cells:
            rows += finished
    return sorted(rows, key=lambda row: (row["seed"], row["cell"]))


def _divided(jobs: list[Job], workers: int) -> list[Job]:
    """Divide the jobs if there are fewer than workers. Each part draws or reads its population."""
    parts = max(-(-workers // max(len(jobs), 1)), 1)
    return [
        (source, seed, settings[start::parts])
        for source, seed, settings in jobs
        for start in range(min(parts, len(settings)))
    ]


def _finished(jobs: list[Job], folder: Path | None, workers: int, report: Callable[[int], None]) -> Generator[Rows]:
    """The rows of one cell after the other, in any order. `report` gets the number of finished cells."""
    if workers == 1:
        cells = (rows for job in jobs for rows in run_job(*job, folder))
        for done, rows in enumerate(cells, 1):
            report(done)
            yield rows
        return
    with processes(workers) as pool:
        waiting: set[Future[list[Rows]]] = {pool.submit(_part, *job, folder) for job in jobs}
        while waiting:
            ready, waiting = wait(waiting, timeout=_LOOK, return_when=FIRST_COMPLETED)
            report(pool.done())
            for future in ready:
                yield from future.result()


def _part(source: PopulationSource, seed: int, settings: list[Setting], folder: Path | None) -> list[Rows]:
    """The rows of a job, in a process of the pool."""
    cells = []
    for rows in run_job(source, seed, settings, folder):
        tick()
        cells.append(rows)
    return cells


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
    line = json.dumps({"key": key, "digest": _digest_of(rows), "rows": rows}, allow_nan=False)
    with path.open("ab", buffering=0) as file:
        file.write(f"\n{line}".encode())  # at once: another process may write to the same file


def _digest_of(rows: Rows) -> str:
    return _digest(json.dumps(rows, allow_nan=False))


def _read(path: Path) -> dict[str, Rows]:
    """The cells of one file. A line that was cut off or damaged is left out, so that its cell is run again."""
    cells: dict[str, Rows] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n") if path.exists() else ():
        try:
            match json.loads(line):
                case {"key": str(key), "digest": str(digest), "rows": [*rows]} if digest == _digest_of(rows):
                    cells[key] = rows
        except (ValueError, RecursionError):  # no JSON, not a number, or nested too deeply
            continue
    return cells
