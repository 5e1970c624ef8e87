"""One run over one log, in a process of its own: `python -m benchmarks.once.ours SMALL_LOG LOG` prints JSON.

The process sees the small log first, so that what Python loads and computes on first use is not measured. What is
measured goes from the path to the answer: connecting, reading, counting, and all that follows.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path


def run(answer: Callable[[Path], int]) -> None:
    """Time one call for the log on the command line; the answer is a number of records."""
    small, log = (Path(argument) for argument in sys.argv[1:3])
    answer(small)
    start, worked = time.perf_counter(), time.process_time()
    records = answer(log)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - worked
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_bytes": _peak_bytes(), "records": records}))


def _peak_bytes() -> int:
    """The most memory this process held. `getrusage` would also count what its parent held when it was started."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
