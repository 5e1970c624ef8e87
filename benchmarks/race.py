"""Compare programs on one log: they take turns on two cores, each run in a fresh process."""

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
_SMALL = 100_000  # enough for a list that is not empty


@dataclass
class Runs:
    """All runs of one program."""

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
    """Run our discovery and DuckDB alone, in turn."""
    return in_turn(["ours", "duckdb_alone"], [data.log(_SMALL), data.log(rows)], rounds)


def in_turn(names: Sequence[str], arguments: Sequence[object], rounds: int) -> list[Runs]:
    """Run the named modules of `benchmarks.once` in turn, with the same arguments."""
    runs = [Runs() for _ in names]
    with cores(CORES):
        for _ in range(rounds):
            for name, run in zip(names, runs, strict=True):
                result = once(name, *arguments)
                run.seconds.append(result["seconds"])
                run.cpu_seconds.append(result["cpu_seconds"])
                run.peak_bytes.append(result["peak_bytes"])
                run.records = result["records"]
    return runs


def once(name: str, *arguments: object) -> dict[str, Any]:
    """Run a module of `benchmarks.once` in a new process and return what it prints."""
    command = [sys.executable, "-m", f"benchmarks.once.{name}", *map(str, arguments)]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return result
