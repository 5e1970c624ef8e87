"""Contenders over one log: a fresh process for every run, taking turns, on two cores."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks import data
from benchmarks.machine import cores

CORES = 2
_SMALL = 100_000  # enough that something is listed


@dataclass
class Runs:
    """All runs of one contender."""

    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    peak_bytes: list[int] = field(default_factory=list)
    records: int = 0

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def peak_megabytes(self) -> float:
        return max(self.peak_bytes) / 1e6


def race(rows: int, rounds: int) -> list[Runs]:
    """Discovery, ours, and DuckDB alone."""
    return in_turn(["ours", "duckdb_alone"], [data.log(_SMALL), data.log(rows)], rounds)


def in_turn(names: Sequence[str], arguments: Sequence[object], rounds: int) -> list[Runs]:
    """Every module of `benchmarks.once` that is named, on the same arguments."""
    runs = [Runs() for _ in names]
    with cores(CORES):
        for _ in range(rounds):
            for name, run in zip(names, runs, strict=True):
                done = once(name, *arguments)
                run.seconds.append(done["seconds"])
                run.cpu_seconds.append(done["cpu_seconds"])
                run.peak_bytes.append(done["peak_bytes"])
                run.records = done["records"]
    return runs


def once(name: str, *arguments: object) -> dict[str, Any]:
    """What a module of `benchmarks.once` prints, in a process of its own."""
    command = [sys.executable, "-m", f"benchmarks.once.{name}", *map(str, arguments)]
    answer: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return answer
