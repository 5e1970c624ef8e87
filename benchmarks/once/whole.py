"""A whole run: from the files of a log to a release, every client's report simulated. A third argument limits memory."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.once import run
from blender_dp import Blender
from blender_dp.engines import DuckDBEngine

BLENDER = Blender(epsilon=4, delta="1e-7")  # below 1 / opt-in users, also of the largest log


def users(log: Path) -> int:
    """How many users were in the run."""
    engine = DuckDBEngine(memory=sys.argv[3] if len(sys.argv) > 3 else None)
    release = BLENDER.run_log(log, "0.05", key=b"benchmark", engine=engine)
    return sum(group.users for group in release.manifest.groups)


if __name__ == "__main__":
    run(users)
