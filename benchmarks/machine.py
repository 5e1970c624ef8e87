"""The machine: what it is, and how much of it a measurement may use."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path


@contextmanager
def cores(count: int) -> Iterator[None]:
    """Let this thread, and the processes it starts, run on that many cores only."""
    before = os.sched_getaffinity(0)
    if len(before) < count:
        raise SystemExit(f"this benchmark needs {count} cores, and there are {len(before)}")
    os.sched_setaffinity(0, sorted(before)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def description() -> dict[str, str | int]:
    """What to know about the machine to read the figures."""
    return {
        "processor": _field("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count() or 0,
        "memory": _field("/proc/meminfo", "MemTotal"),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "duckdb", "pyarrow", "cryptography")},
    }


def _field(path: str, name: str) -> str:
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "unknown")
