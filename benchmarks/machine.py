"""Describe the machine, and limit how many cores a measurement uses."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path


@contextmanager
def cores(count: int) -> Iterator[None]:
    """Run this thread, and the processes it starts, on this many cores only."""
    before = os.sched_getaffinity(0)
    if len(before) < count:
        raise SystemExit(f"This benchmark needs {count} cores; {len(before)} available.")
    os.sched_setaffinity(0, sorted(before)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def description() -> dict[str, str | int]:
    """The hardware and versions that the figures depend on."""
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
