"""How long the command takes to start: its help, a run over a small log, and a collector until it answers.

Starts are warm: bytecode is compiled and files are cached. The figure of a command is the best of several starts, since
anything else on the machine can only make a start slower.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

from benchmarks.result import Cell, Result, Verdict
from benchmarks.stopwatch import seconds

ROUNDS = 5
COMMAND = str(Path(sys.executable).parent / "blender-dp")
LIMITS = {"--help": 0.3, "run": 1.2, "serve, 1 process": 2.0, "serve, 2 processes": 3.0}
"""The limit of every start in seconds."""

_BARE = "bare Python"
_QUERIES = 30
_USERS = 3_000


def measure() -> Result:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_log(folder / "log.csv")
        commands: dict[str, Callable[[], object]] = {
            _BARE: lambda: _call(sys.executable, "-c", "pass"),
            "--help": lambda: _call(COMMAND, "--help"),
            "run": lambda: _run(folder),
        }
        for command in commands.values():  # compiles bytecode, and fills the cache of files
            command()
        starts = seconds(commands, ROUNDS)
        for workers, label in enumerate(("serve, 1 process", "serve, 2 processes"), 1):
            starts[label] = [_seconds_until_ready(folder / f"{label} {i}", workers) for i in range(ROUNDS + 1)][1:]
    best = {name: min(taken) for name, taken in starts.items()}
    rows: list[dict[str, Cell]] = [
        {"start": name, "s": taken, "× bare Python": taken / best[_BARE]} for name, taken in best.items()
    ]
    return Result(
        "startup",
        "warm starts of the command",
        f"Best of {ROUNDS} starts, each in a new process. The small log has {_USERS:,} rows.",
        rows,
        [Verdict(f"start of {name}", best[name], limit, "at most", " s") for name, limit in LIMITS.items()],
    )


def _write_log(path: Path) -> None:
    rows = (f"u{i},query {i % _QUERIES},https://site{i % _QUERIES}.example/" for i in range(_USERS))
    path.write_text("\n".join(["user,query,url", *rows]), encoding="utf-8")


def _run(folder: Path) -> None:
    options = ("--epsilon", "4", "--delta", "1e-5", "--opt-in", "0.3", "--force")
    _call(COMMAND, "run", str(folder / "log.csv"), *options, "--out", str(folder / "release"))


def _call(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _seconds_until_ready(folder: Path, workers: int) -> float:
    """The time from the start of a collector with an empty database to its first response."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BLENDER_DP_")}
    command = [COMMAND, "serve", "--data", str(folder), "--port", "0", "--workers", str(workers), "--json"]
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True) as process:
        try:
            events = (json.loads(line) for line in process.stdout or ())
            url = next(event["url"] for event in events if event["event"] == "listening")
            with urllib.request.urlopen(f"{url}/__lbheartbeat__", timeout=60):  # noqa: S310 (our own server)
                return time.perf_counter() - begin
        finally:
            process.terminate()
            process.wait(60)
