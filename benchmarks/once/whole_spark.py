"""A whole run on Spark, with as many workers as there are cores for a run. Spark has started when the clock starts."""

from __future__ import annotations

from pathlib import Path

from benchmarks.once import run
from benchmarks.once.whole import BLENDER
from benchmarks.race import CORES
from blender_dp.engines.spark import SparkEngine


def users(log: Path) -> int:
    """How many users were in the run."""
    release = BLENDER.run_log(log, "0.05", key=b"benchmark", engine=SparkEngine(master=f"local[{CORES}]"))
    return sum(group.users for group in release.manifest.groups)


if __name__ == "__main__":
    run(users)
