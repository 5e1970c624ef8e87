"""Hostile bodies: how much they increase a server's memory, and how long they delay its responses to others."""

from __future__ import annotations

import socket
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load import request
from benchmarks.result import Result, Verdict
from benchmarks.served import Served, served
from tests.collector_http.hostile import HOSTILE, MOST_BYTES

TURNS = 3
_PROBE = request("GET", "/__lbheartbeat__")
_PROBE_SECONDS = 0.002


@dataclass(frozen=True)
class Hostile:
    """The effect of one kind of body over all turns."""

    name: str
    growth_bytes: int
    blocked_seconds: float


def measure() -> Result:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "data") as server:
        results = sent(server)
    return Result(
        "hostile",
        "bodies designed to fill the memory or to block the server",
        f"{MOST_BYTES / 1e6:g} MB each, to `blender-dp serve` with default settings; {TURNS} times. Memory: the peak "
        "above the memory of the server before the first body. Blocked: the longest time that a no-op request waited "
        "meanwhile, in the best turn.",
        [
            {"body": one.name, "memory MB": one.growth_bytes / 1e6, "blocked ms": one.blocked_seconds * 1000}
            for one in results
        ],
        [
            Verdict("memory for a hostile body", max(one.growth_bytes for one in results) / 1e6, 64, "at most", " MB"),
            Verdict(
                "others wait for a hostile body", max(one.blocked_seconds for one in results) * 1000, 100, "at most", " ms"
            ),
        ],
    )


def sent(server: Served) -> list[Hostile]:
    """Send every kind of hostile body."""
    _sent(server, b"{}")  # modules that are loaded once do not count as growth
    before = _memory(server, "VmRSS")
    return [_measured(server, name, before) for name in HOSTILE]


def _measured(server: Served, name: str, before: int) -> Hostile:
    body = HOSTILE[name]()
    Path(f"/proc/{server.process.pid}/clear_refs").write_text("5", encoding="utf-8")  # forget the peak
    blocked = min(_blocked(server, body) for _ in range(TURNS))
    return Hostile(name, _memory(server, "VmHWM") - before, blocked)


def _blocked(server: Served, body: bytes) -> float:
    waits, done = [0.0], threading.Event()

    def probe() -> None:
        with socket.create_connection(("127.0.0.1", server.port)) as one:
            while not done.is_set():
                start = time.perf_counter()
                one.sendall(_PROBE)
                one.recv(4096)
                waits.append(time.perf_counter() - start)
                time.sleep(_PROBE_SECONDS)

    probing = threading.Thread(target=probe)
    probing.start()
    try:
        _sent(server, body)
    finally:
        done.set()
        probing.join()
    return max(waits)


def _sent(server: Served, body: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as one:
        one.sendall(request("POST", f"/v1/rounds/{'0' * 32}/reports", body))
        status = one.recv(4096)[9:12]
    if status not in {b"400", b"404", b"413", b"422"}:
        raise SystemExit(f"Unexpected response of the server: {status.decode()}.")


def _memory(server: Served, which: str) -> int:
    lines = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) * 1024
