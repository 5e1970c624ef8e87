"""Run every rival on every population, two at a time; what has been measured once is read from .bench/rivals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.rivals.cache import remembered, source_of
from benchmarks.rivals.populations import Population
from benchmarks.rivals.scores import Scores, score
from benchmarks.rivals.settings import EVIDENCE, RIVALS, SEEDS, SETTINGS, Rival, Setting
from blender_dp.evaluation.code_digest import code_digest

_OURS = "benchmarks.rivals.ours"
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
_LAST_LINES = 3


@dataclass(frozen=True)
class Outcome:
    """One rival on one population, which is known by its seed."""

    seed: int
    scores: Scores
    rows: int
    seconds: float
    report_bytes: float | None
    peak_bytes: int
    audit: dict[str, Any] | None = None
    """The exact audit of the integers that this run used, if it is one of ours."""


@dataclass(frozen=True)
class Failure:
    """Why an environment or a rival is missing."""

    what: str
    error: str


Key = tuple[str, str]
"""The names of a setting and a rival."""


@dataclass
class Results:
    """Everything that was measured."""

    outcomes: dict[Key, list[Outcome]] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    days: set[str] = field(default_factory=set)


class _RunError(Exception):
    """A script failed; the message is the end of what it printed."""


def run_all() -> Results:
    """Run everyone, and check the promises of the other libraries."""
    results = Results()
    pythons = _environments(results)
    populations = [Population(setting, seed) for seed in range(SEEDS) for setting in SETTINGS]
    for _ in _in_turn(populations, Population.write):
        pass
    tasks = [
        (rival, population)
        for population in populations
        for rival in RIVALS
        if population.seed < rival.seeds and (rival.environment is None or rival.environment in pythons)
    ]
    for (rival, population), found in _in_turn(tasks, lambda task: _measured(task, pythons)):
        if isinstance(found, Failure):
            results.failures.append(found)
        else:
            results.days.add(found["measured"])
            results.outcomes.setdefault((population.setting.name, rival.name), []).append(found["result"])
    for _, found in _in_turn(list(pythons), lambda name: _checked(name, pythons[name])):
        if isinstance(found, Failure):
            results.failures.append(found)
        else:
            results.days.add(found["measured"])
            results.findings += found["result"]
    results.failures = list(dict.fromkeys(results.failures))
    return results


def _environments(results: Results) -> dict[str, Path]:
    pythons: dict[str, Path] = {}
    for name in EVIDENCE:
        try:
            pythons[name] = peers.environment(name).absolute()
        except peers.InstallError as error:
            results.failures.append(Failure(f"environment {name}", last_lines(str(error))))
    return pythons


def _in_turn(tasks: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    """Work on two tasks at a time, each on a core of its own, and say how far it is."""
    cores, number = sorted(os.sched_getaffinity(0)), count()

    def pin() -> None:
        os.sched_setaffinity(0, {cores[next(number) % len(cores)]})

    with ThreadPoolExecutor(2, initializer=pin) as pool:
        for done, (task, found) in enumerate(zip(tasks, pool.map(work, tasks), strict=True), 1):
            print(f"rivals: {_label(task)} ({done} of {len(tasks)})", file=sys.stderr)
            yield task, found


def _label(task: Any) -> str:  # noqa: ANN401 (a population, a run or the name of an environment)
    if isinstance(task, Population):
        return f"users of {task.setting.name}, seed {task.seed}"
    if isinstance(task, str):
        return f"promises, environment {task}"
    rival, population = task
    return f"{rival.name}, {population.setting.name}, seed {population.seed}"


def _measured(task: tuple[Rival, Population], pythons: dict[str, Path]) -> dict[str, Any] | Failure:
    """The outcome of a run. Only what the rival printed is remembered: it is scored again every time."""
    rival, population = task
    job = {"method": rival.method, **population.setting.promise}
    name = f"{_slug(population.setting, rival)}-{population.seed}"
    depends_on = f"{code_of(rival)} {json.dumps(job)} {population.fingerprint}"
    command = [sys.executable, "-m", _OURS]
    if rival.environment:
        command = [str(pythons[rival.environment]), str(peers.FOLDER / rival.script)]
    argument = json.dumps({"folder": str(population.folder.absolute()), **job})
    try:
        found = remembered(name, depends_on, lambda: _printed([*command, argument], {**os.environ, **_ONE_THREAD}))
    except _RunError as error:
        return Failure(rival.name, str(error))
    return {**found, "result": scored(rival, population, found["result"])}


def scored(rival: Rival, population: Population, result: dict[str, Any]) -> Outcome:
    """What a rival printed, with its scores on this population."""
    setting, values = population.setting, dict(result)
    shares = values.pop("shares")
    named = population.named(shares) if rival.environment == "local" else shares
    return Outcome(population.seed, score(named, population.counts, setting.users, setting.max_queries), **values)


def _checked(name: str, python: Path) -> dict[str, Any] | Failure:
    """The findings of an environment's script."""
    script = peers.FOLDER / EVIDENCE[name]
    argument = json.dumps([setting.promise for setting in SETTINGS])
    try:
        return remembered(
            f"promises-{name}",
            f"{source_of(script)} {_pinned(name)} {argument}",
            lambda: _printed([str(python), str(script), argument], dict(os.environ)),
        )
    except _RunError as error:
        return Failure(f"promises of {name}", str(error))


def _printed(command: list[str], variables: dict[str, str]) -> Any:  # noqa: ANN401 (whatever the script prints)
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=variables)
    if done.returncode:
        raise _RunError(last_lines(done.stderr))
    return json.loads(done.stdout.splitlines()[-1])


def last_lines(text: str) -> str:
    """The end of an error message, which says what went wrong."""
    return " ".join(line.strip() for line in text.strip().splitlines()[-_LAST_LINES:])


def code_of(rival: Rival) -> str:
    """The code that a rival's result depends on: its script and its pinned versions, or all of our library."""
    if rival.environment is None:
        return f"{code_digest()} {source_of(Path(*_OURS.split('.')).with_suffix('.py'))}"
    return f"{source_of(peers.FOLDER / rival.script)} {_pinned(rival.environment)}"


def _pinned(environment: str) -> str:
    return (peers.FOLDER / f"{environment}.txt").read_text(encoding="utf-8")


def _slug(setting: Setting, rival: Rival) -> str:
    return f"{setting.name}-{rival.name}".lower().replace(",", "").replace(" ", "-")
