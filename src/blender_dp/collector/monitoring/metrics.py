"""Metrics for Prometheus. Several processes write theirs to files, and each of them can return the sum."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client's own variable, which it reads on import
_FILE = re.compile(r"(counter|histogram|gauge_live\w*)_(\d+)\.db")
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@contextmanager
def added_up() -> Iterator[None]:
    """Let all processes that start in this block share their metrics."""
    folder = tempfile.mkdtemp(prefix="blender-dp-metrics-")
    os.environ[_FOLDER] = folder
    try:
        yield
    finally:
        remove_files()
        os.environ.pop(_FOLDER, None)


def remove_files() -> None:
    """Remove the files that the processes share."""
    if folder := os.environ.get(_FOLDER):
        shutil.rmtree(folder, ignore_errors=True)


def add_up_ended() -> None:
    """Move the counts of processes that have ended to one file: their own files would accumulate."""
    if not (name := os.environ.get(_FOLDER)):
        return
    with _alone(Path(name)) as folder:
        for file, kind in _of_ended(folder):
            if not kind.startswith("gauge"):
                total = MmapedDict(str(folder / f"{kind}_ended.db"))  # type: ignore[no-untyped-call]
                for key, value, *_ in MmapedDict.read_all_values_from_file(str(file)):  # type: ignore[no-untyped-call]
                    total.write_value(key, total.read_value(key)[0] + value, 0.0)  # type: ignore[no-untyped-call]
                total.close()  # type: ignore[no-untyped-call]
            file.unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path) -> Iterator[Path]:
    """Lock the files: a sum must not count a process twice, or not at all."""
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield folder


def _of_ended(folder: Path) -> list[tuple[Path, str]]:
    """The files of processes that have ended, and their kinds."""
    files = [(file, match) for file in folder.iterdir() if (match := _FILE.fullmatch(file.name))]
    return [(file, match[1]) for file, match in files if not Path(f"/proc/{match[2]}").exists()]


@dataclass(frozen=True)
class Totals:
    """Reports since the collector started: stored ones, duplicates included, and refused ones by reason."""

    stored: float
    refused: dict[str, float]


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
        self.rounds = self._same("rounds", "Unfinished rounds, by state", "state")
        self.in_state = self._same("round_state_seconds", "Longest observed time of a round in its state", "state")

    def _sum(self, name: str, meaning: str, *labels: str) -> Gauge:
        """A gauge that is summed over the processes."""
        return Gauge(f"blender_dp_{name}", meaning, labels, registry=self._registry, multiprocess_mode="livesum")

    def _same(self, name: str, meaning: str, *labels: str) -> Gauge:
        """A gauge of something that all processes share."""
        return Gauge(f"blender_dp_{name}", meaning, labels, registry=self._registry, multiprocess_mode="livemax")

    def count(self, status: int) -> None:
        """Count a response."""
        self.answers.labels(str(status)).inc()

    def see_process(self) -> None:
        """Measure this process."""
        resident = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        self.memory.set(int(resident) * _PAGE_BYTES)
        self.files.set(len(os.listdir("/proc/self/fd")))  # noqa: PTH208 (only their number)

    def text(self) -> bytes:
        """The metrics of all processes, in Prometheus' format."""
        with self._all_processes() as registry:
            return generate_latest(registry)

    def totals(self) -> Totals:
        """The reports of all processes since the start."""
        with self._all_processes() as registry:
            samples = [sample for metric in registry.collect() for sample in metric.samples]
        stored = sum(sample.value for sample in samples if sample.name == "blender_dp_reports_total")
        refused = {one.labels["reason"]: one.value for one in samples if one.name == "blender_dp_refused_total"}
        return Totals(stored, refused)

    @contextmanager
    def _all_processes(self) -> Iterator[CollectorRegistry]:
        name = os.environ.get(_FOLDER)
        if name is None:
            yield self._registry
            return
        together = CollectorRegistry()
        with _alone(Path(name)) as folder:
            for file, kind in _of_ended(folder):
                if kind.startswith("gauge"):  # the supervisor adds up the others
                    file.unlink(missing_ok=True)
            MultiProcessCollector(together, name)  # type: ignore[no-untyped-call]
            yield together
