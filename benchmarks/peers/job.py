"""What every rival's script needs: its task, a stopwatch, and one way to print the result. Runs in every environment."""

from __future__ import annotations

import json
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Job:
    """One rival on one population."""

    folder: Path
    method: str
    epsilon: float
    delta: float
    max_queries: int

    @classmethod
    def read(cls) -> Job:
        """The task on the command line, as JSON."""
        values = json.loads(sys.argv[1])
        return cls(Path(values["folder"]), *(values[name] for name in ("method", "epsilon", "delta", "max_queries")))


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """The result of the work, and the processor's seconds: busy neighbours change them less than those of a clock."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def bytes_of(reports: Iterable[object]) -> float:
    """The mean size of reports as the library returns them, pickled."""
    sizes = [len(pickle.dumps(report, protocol=5)) for report in reports]
    return sum(sizes) / len(sizes)


def finish(
    shares: Mapping[str, float], rows: int, seconds: float, report_bytes: float | None = None, **more: object
) -> None:
    """Print the estimated shares and what they cost, and what else is known about the run."""
    print(json.dumps({
        "shares": {name: float(share) for name, share in shares.items()},
        "rows": rows, "seconds": seconds, "report_bytes": report_bytes, "peak_bytes": _peak_bytes(),
        **more,
    }))  # fmt: skip


def select_queries(methods: Mapping[str, Callable[[Sequence[str], float, float], Mapping[str, float]]]) -> None:
    """Run the method of this job on the opt-in users' queries, and print the shares of those it releases."""
    job = Job.read()
    queries = (job.folder / "opt-in.txt").read_text(encoding="utf-8").splitlines()
    counts, seconds = timed(lambda: methods[job.method](queries, job.epsilon, job.delta))
    finish({query: count / len(queries) for query, count in counts.items()}, len(queries), seconds)


def _peak_bytes() -> int:
    """The peak memory of this program; the usual `ru_maxrss` also counts the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(kilobytes) * 1024
