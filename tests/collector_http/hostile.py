"""Hostile requests, and how to measure their effect; the load benchmark sends them, too."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import httpx

PROGRAM = Path(sys.executable).parent / "blender-dp"
MOST_BYTES = 4_000_000
"""The longest body that a collector accepts by default."""


def _report(cells: str) -> str:
    return f'{{"id":"{"0" * 32}","head_list":"{"0" * 64}","cells":[{cells}]}}'


def _filled(one: str, start: str = '{"reports":[', end: str = "]}") -> bytes:
    """A body of the maximum length, made of one repeated piece."""
    count = (MOST_BYTES - len(start) - len(end)) // (len(one) + 1)
    return (start + ",".join([one] * count) + end).encode()


def _fields(start: str, end: str) -> bytes:
    return (start + ",".join(f'"{i:x}":1' for i in range(400_000)) + end).encode()


HOSTILE: dict[str, Callable[[], bytes]] = {
    "invalid cells": lambda: _filled(_report(",".join(['""'] * 10_000))),
    "one invalid cell at the end": lambda: _filled(_report(",".join(["300"] * 9_999 + ['""']))),
    "many valid cells": lambda: _filled(_report(",".join(["300"] * 10_000))),
    "empty objects": lambda: _filled("{}"),
    "empty arrays": lambda: _filled("[]"),
    "short texts": lambda: _filled('"ab"'),
    "numbers": lambda: _filled("1"),
    "floats": lambda: _filled("1e9"),
    "one readable report": lambda: _filled("0", '{"reports":[' + _report("1") + ","),
    "too many reports": lambda: _filled(_report("1")),
    "100,000 empty reports": lambda: b'{"reports":[' + b",".join([b"{}"] * 100_000) + b"]}",
    "10,000 reports of long texts": lambda: _filled('{"id":"' + "x" * 380 + '"}'),
    "deep": lambda: b"[" * MOST_BYTES,
    "deep in a report": lambda: b'{"reports":[' + b"[" * 1_900_000 + b"]" * 1_900_000 + b"]}",
    "one long text": lambda: b'{"reports":["' + "ā".encode() * 1_900_000 + b'"]}',
    "many fields": lambda: _fields("{", "}"),
    "many fields in a report": lambda: _fields('{"reports":[{', "}]}"),
    "a long number": lambda: b'{"reports":[' + b"9" * 3_900_000 + b"]}",
    "spaces": lambda: b" " * MOST_BYTES,
}


@dataclass
class Serving:
    """`blender-dp serve` in a separate process."""

    url: str
    process: subprocess.Popen[bytes]

    @cached_property
    def at_first(self) -> int:
        """Bytes of memory at the first call: everything after it must not add much in total."""
        return self.memory()

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def memory(self, which: str = "VmRSS") -> int:
        """Bytes of memory now, or with "VmHWM" the maximum since `forget_peak`."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(which)) * 1024

    def forget_peak(self) -> None:
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5", encoding="utf-8")


@contextmanager
def serving(data: Path, **settings: object) -> Iterator[Serving]:
    """Start a collector with these settings, and stop it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    given = {f"BLENDER_DP_{name.upper()}": str(value) for name, value in settings.items()}
    environment = {**os.environ, "BLENDER_DP_MIN_FREE_BYTES": "0", **given}
    command = [PROGRAM, "serve", "--data", data, "--port", str(port)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            one = Serving(f"http://127.0.0.1:{port}", process)
            for _ in range(600):
                try:
                    httpx.get(f"{one.url}/__heartbeat__", timeout=120).raise_for_status()
                    break
                except httpx.HTTPError:
                    time.sleep(0.05)
            yield one
        finally:
            process.terminate()
            process.wait(60)
