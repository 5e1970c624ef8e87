"""One run over one log, in a process of its own: `python -m benchmarks.once.ours SMALL_LOG LOG` prints JSON.

The process sees the small log first, so that what Python loads and computes on first use is not measured. What is
measured goes from the path to the answer: connecting, reading, counting, and all that follows.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
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
    """The most memory this process held, and those that it started and that still run, such as Spark's.

    `getrusage` would also count what its parent held when it was started.
    """
    parents, peaks = dict[int, int](), dict[int, int]()
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):  # it has ended in between
            fields = dict(line.split(":\t", 1) for line in status.read_text(errors="replace").splitlines() if ":\t" in line)
            if "VmHWM" in fields:  # kernel threads have none
                pid = int(fields["Pid"])
                parents[pid], peaks[pid] = int(fields["PPid"]), int(fields["VmHWM"].split()[0]) * 1024
    family = {os.getpid()}
    while found := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= found
    return sum(peaks[pid] for pid in family)
