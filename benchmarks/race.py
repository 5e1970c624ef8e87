"""Discovery and DuckDB's bare counting over one log: a fresh process for every run, taking turns, on two cores."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field

from benchmarks import data
from benchmarks.machine import cores

CORES = 2
_SMALL = 100_000  # enough that something is listed


@dataclass
class Runs:
    """All runs of one contender."""

    seconds: list[float] = field(default_factory=list)
    peak_bytes: list[int] = field(default_factory=list)
    records: int = 0

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def peak_megabytes(self) -> float:
        return max(self.peak_bytes) / 1e6


def race(rows: int, rounds: int) -> tuple[Runs, Runs]:
    """Ours, and DuckDB alone."""
    logs = [str(data.log(_SMALL)), str(data.log(rows))]
    ours, alone = Runs(), Runs()
    with cores(CORES):
        for _ in range(rounds):
            for name, runs in (("ours", ours), ("duckdb_alone", alone)):
                command = [sys.executable, "-m", f"benchmarks.once.{name}", *logs]
                done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                runs.seconds.append(done["seconds"])
                runs.peak_bytes.append(done["peak_bytes"])
                runs.records = done["records"]
    return ours, alone
