"""Metrics for Prometheus. With several processes each writes its own to files, and any of them can be asked for the sum."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's own; it is read when that is imported
_LIVE = re.compile(r"gauge_live\w*_(\d+)\.db")
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@contextmanager
def added_up() -> Iterator[None]:
    """Let all processes that are started in this block share their metrics."""
    folder = tempfile.mkdtemp(prefix="blender-dp-metrics-")
    os.environ[_FOLDER] = folder
    try:
        yield
    finally:
        os.environ.pop(_FOLDER, None)
        shutil.rmtree(folder, ignore_errors=True)


class Metrics:
    """All metrics of one process."""

    def __init__(self) -> None:
        self._registry = own = CollectorRegistry()
        self.reports = Counter("blender_dp_reports", "Reports stored, duplicates included", registry=own)
        self.refused = Counter("blender_dp_refused", "Reports refused", ["reason"], registry=own)
        self.answers = Counter("blender_dp_answers", "Responses by status", ["status"], registry=own)
        self.seconds = Histogram(
            "blender_dp_request_seconds", "From a request to the start of its response", ["route"],
            buckets=_SECONDS, registry=own,
        )  # fmt: skip
        self.failures = Counter("blender_dp_worker_failures", "Failures of the worker's tasks", registry=own)
        self.waiting = self._sum("waiting", "Requests under way")
        self.connections = self._sum("pool_connections", "Connections to the database", "use")
        self.memory = self._sum("resident_bytes", "Resident memory of all processes")
        self.files = self._sum("open_files", "Open files of all processes")
        self.free = self._same("free_bytes", "Free disk space")
        self.rounds = self._same("rounds", "Rounds that are not over, by state", "state")
        self.in_state = self._same("round_state_seconds", "Longest time that a round is in a state, as far as seen", "state")

    def _sum(self, name: str, meaning: str, *labels: str) -> Gauge:
        """A gauge that is added up over the processes."""
        return Gauge(f"blender_dp_{name}", meaning, labels, registry=self._registry, multiprocess_mode="livesum")

    def _same(self, name: str, meaning: str, *labels: str) -> Gauge:
        """A gauge of something that all processes see."""
        return Gauge(f"blender_dp_{name}", meaning, labels, registry=self._registry, multiprocess_mode="livemax")

    def see_process(self) -> None:
        """Measure this process."""
        resident = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        self.memory.set(int(resident) * _PAGE_BYTES)
        self.files.set(len(os.listdir("/proc/self/fd")))  # noqa: PTH208 (only their number)

    def text(self) -> bytes:
        """The metrics of all processes, in Prometheus' format."""
        folder = os.environ.get(_FOLDER)
        if folder is None:
            return generate_latest(self._registry)
        for file in Path(folder).iterdir():
            found = _LIVE.fullmatch(file.name)
            if found and not Path(f"/proc/{found[1]}").exists():
                file.unlink(missing_ok=True)  # what a process had that is gone
        together = CollectorRegistry()
        MultiProcessCollector(together, folder)  # type: ignore[no-untyped-call]
        return generate_latest(together)
