"""Run every rival on every population, two at a time; what has been measured once is read from .bench/rivals."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.rivals.populations import HOME, Population
from benchmarks.rivals.scores import Scores, score
from benchmarks.rivals.settings import EVIDENCE, RIVALS, SEEDS, SETTINGS, Rival, Setting

_PACKAGES = ("pipeline", "stages", "mechanisms", "sampling", "parameters", "privacy")
_SOURCES = (
    *(f"src/blender_dp/{name}" for name in _PACKAGES),
    "device/src/blender_dp_device/channel",
    "benchmarks/rivals/ours.py",
)
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
_LAST_LINES = 3


@dataclass(frozen=True)
class Outcome:
    """One rival on one population."""

    scores: Scores
    rows: int
    seconds: float
    report_bytes: float | None
    peak_bytes: int


@dataclass(frozen=True)
class Failure:
    """Why an environment or a rival is missing."""

    what: str
    error: str


Key = tuple[str, str]
"""The names of a setting and a rival."""


def run_all() -> tuple[dict[Key, list[Outcome]], list[dict[str, Any]], list[Failure]]:
    """Outcomes by setting and rival, the findings about promises, and what failed."""
    pythons, failures = _environments()
    populations = [Population(setting, seed) for seed in range(SEEDS) for setting in SETTINGS]
    for population in populations:
        population.write()
    tasks = [
        (rival, population)
        for population in populations
        for rival in RIVALS
        if population.seed < rival.seeds and (rival.environment is None or rival.environment in pythons)
    ]
    outcomes: dict[Key, list[Outcome]] = {}
    for (rival, population), found in _in_turn(tasks, lambda task: _outcome(*task, pythons)):
        if isinstance(found, Failure):
            failures.append(found)
        else:
            outcomes.setdefault((population.setting.name, rival.name), []).append(found)
    findings: list[dict[str, Any]] = []
    for _, found in _in_turn(list(pythons), lambda name: _checked(name, pythons[name])):
        if isinstance(found, Failure):
            failures.append(found)
        else:
            findings += found
    return outcomes, findings, list(dict.fromkeys(failures))


def _environments() -> tuple[dict[str, Path], list[Failure]]:
    pythons: dict[str, Path] = {}
    failures = []
    for name in EVIDENCE:
        try:
            pythons[name] = peers.environment(name).absolute()
        except peers.InstallError as error:
            failures.append(Failure(f"environment {name}", last_lines(str(error))))
    return pythons, failures


def _in_turn(tasks: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    """Work on two tasks at a time, each on a core of its own, and say how far it is."""
    cores, number = sorted(os.sched_getaffinity(0)), count()

    def pin() -> None:
        os.sched_setaffinity(0, {cores[next(number) % len(cores)]})

    with ThreadPoolExecutor(2, initializer=pin) as pool:
        for done, (task, found) in enumerate(zip(tasks, pool.map(work, tasks), strict=True), 1):
            print(f"rivals: {_label(task)} ({done} of {len(tasks)})", file=sys.stderr)
            yield task, found


def _label(task: Any) -> str:  # noqa: ANN401 (a run or the name of an environment)
    if isinstance(task, str):
        return f"promises, environment {task}"
    rival, population = task
    return f"{rival.name}, {population.setting.name}, seed {population.seed}"


def _outcome(rival: Rival, population: Population, pythons: dict[str, Path]) -> Outcome | Failure:
    setting, job = population.setting, _job(rival, population)
    path = HOME / "results" / f"{_slug(setting, rival)}-{population.seed}-{_digest(rival, job)}.json"
    if not path.exists():
        command = [sys.executable, "-m", "benchmarks.rivals.ours"]
        if rival.environment:
            command = [str(pythons[rival.environment]), str(peers.FOLDER / rival.script)]
        done = subprocess.run(
            [*command, job], check=False, capture_output=True, text=True, env={**os.environ, **_ONE_THREAD}
        )
        if done.returncode:
            return Failure(rival.name, last_lines(done.stderr))
        result = json.loads(done.stdout.splitlines()[-1])
        shares = population.named(result.pop("shares")) if rival.environment == "local" else result.pop("shares")
        scores = score(shares, population.counts, setting.users, setting.max_queries)
        _store(path, {**result, "scores": asdict(scores)})
    values = json.loads(path.read_text(encoding="utf-8"))
    return Outcome(**{**values, "scores": Scores(**values["scores"])})


def _checked(name: str, python: Path) -> list[dict[str, Any]] | Failure:
    """The findings of an environment's script."""
    path = HOME / "results" / f"promises-{name}-{_digest_of_texts(EVIDENCE[name], 'evidence.py', f'{name}.txt')}.json"
    if not path.exists():
        command = [python, peers.FOLDER / EVIDENCE[name]]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            return Failure(f"promises of {name}", last_lines(done.stderr))
        _store(path, json.loads(done.stdout.splitlines()[-1]))
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def last_lines(text: str) -> str:
    """The end of an error message, which says what went wrong."""
    return " ".join(line.strip() for line in text.strip().splitlines()[-_LAST_LINES:])


def _job(rival: Rival, population: Population) -> str:
    setting = population.setting
    values = {name: getattr(setting, name) for name in ("epsilon", "delta", "max_queries")}
    return json.dumps({"folder": str(population.folder.absolute()), "method": rival.method, **values})


def _slug(setting: Setting, rival: Rival) -> str:
    return f"{setting.name}-{rival.name}".lower().replace(",", "").replace(" ", "-")


def _digest(rival: Rival, job: str) -> str:
    """Names the code and the settings, so that a change of either is measured again."""
    if rival.environment is None:
        code = "".join(_digest_of_package(Path(source)) for source in _SOURCES)
    else:
        code = _digest_of_texts(rival.script, "job.py", f"{rival.environment}.txt")
    return _hashed(f"{code}{job}".encode())


def _digest_of_texts(*names: str) -> str:
    return _hashed(b"".join((peers.FOLDER / name).read_bytes() for name in names))


def _digest_of_package(path: Path) -> str:
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return _hashed(b"".join(file.read_bytes() for file in files))


def _hashed(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def _store(path: Path, values: object) -> None:
    """Write the file whole or not at all, so that an interrupted run can be continued."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
    unfinished.rename(path)
