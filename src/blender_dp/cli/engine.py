"""Progress of the engine that counts for a verb, and the rows it could not read."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from blender_dp.cli.output import Steps
from blender_dp.engines import Engine
from blender_dp.logs import Source, Tally

_EVERY_SECONDS = 0.5


def counted(tally: Tally, seconds: float) -> str:
    """The number of rows and the speed, in words."""
    bad = f", {tally.bad:,} bad" if tally.bad else ""
    return f"{tally.rows:,} rows{bad}, {tally.rows / max(seconds, 1e-9):,.0f} rows/s"


@contextmanager
def watched(engine: Engine, steps: Steps) -> Iterator[None]:
    """Show the engine's progress while the block runs, if it reports any."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_EVERY_SECONDS):
            if (percent := engine.progress()) > 0:
                steps.update(percent)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def write_bad_rows(path: Path, engine: Engine, source: Source) -> None:
    """Write the bad rows as JSON lines, readable by their owner only: they are as private as the log."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchmod(descriptor, 0o600)  # also for a file that already existed
        for row in engine.bad_rows(source):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
