"""The collector under load: a real server, and a load generator beside it; everything against its own no-op endpoint."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.load import Load, Task, request, run, write_requests
from benchmarks.machine import cores
from benchmarks.result import Result
from benchmarks.served import Listed, served
from tests.collector.places import Server

CORES = 2
CONNECTIONS = 64
SECONDS = 5.0
ROUNDS = 3
SINGLES = 20_000  # different ones; sent again they are duplicates, which cost the same but for the row
BATCH, BATCHES, BATCH_CONNECTIONS = 5_000, 60, 4
LARGE = 10_000_000
SHARE = 0.7


@dataclass(frozen=True)
class Measured:
    """One database's figures."""

    name: str
    noop: Load
    single: Load
    cached: Load
    paced: Load
    batched: Load
    release_seconds: float
    release_peak_bytes: int

    @property
    def reports(self) -> float:
        """Reports a second, in batches."""
        return self.batched.rate * BATCH


def measure() -> Result:
    with cores(CORES):
        found = [_measured(name) for name in DATABASES]
    return Result(
        "collector",
        "reports over HTTP, from the socket to the disk",
        "to be written",
        [row for one in found for row in _rows(one)],
        [verdict for one in found for verdict in _verdicts(one)],
    )


def _measured(name: str) -> Measured:
    with _place() as folder, DATABASES[name]() as database, served(folder / "data", database) as server:
        listed = server.listed()
        ways = {
            "noop": Task(
                server.port, _kept(folder, "noop", iter([request("GET", "/__lbheartbeat__")])), CONNECTIONS, SECONDS, 200
            ),
            "cached": Task(server.port, _kept(folder, "cached", iter([_fetch(listed)])), CONNECTIONS, SECONDS, 304),
        }
        best: dict[str, Load] = {}
        for turn in range(ROUNDS):
            singles = _kept(folder, "single", _singles(listed, SINGLES * 5, turn))
            for way, task in {**ways, "single": Task(server.port, singles, CONNECTIONS, SECONDS, 200)}.items():
                load = run(task)
                print(
                    name,
                    way,
                    f"{load.rate:.0f}/s p95 {load.p95 * 1000:.1f} ms generator cpu {load.cpu_seconds / load.seconds:.2f}",
                    flush=True,
                )
                best[way] = max(load, best.get(way, load), key=lambda one: one.rate)
        paced = run(
            Task(
                server.port,
                _kept(folder, "single", _singles(listed, SINGLES * 5, 9)),
                CONNECTIONS * 4,
                SECONDS * 2,
                200,
                SHARE * best["single"].rate,
            )
        )
        print(name, "paced", paced, flush=True)
        batched = run(Task(server.port, _kept(folder, "batch", _batches(listed)), BATCH_CONNECTIONS, 0, 200, once=True))
        print(name, "batched", batched, batched.rate * BATCH, flush=True)
        return Measured(name, best["noop"], best["single"], best["cached"], paced, batched, 0, 0)


def _singles(listed: Listed, count: int, turn: int) -> Iterator[bytes]:
    cells = itertools.cycle(listed.cells(1000))
    for i, told in zip(range(count), cells):
        yield _posted(listed, [(os.urandom(16).hex(), told)])


def _batches(listed: Listed) -> Iterator[bytes]:
    cells = itertools.cycle(listed.cells(10_000))
    for _ in range(BATCHES):
        yield _posted(listed, [(os.urandom(16).hex(), told) for told in itertools.islice(cells, BATCH)])


def _posted(listed: Listed, reports: list[tuple[str, list[int]]]) -> bytes:
    body = {"reports": [{"id": key, "head_list": listed.head_list, "cells": told} for key, told in reports]}
    return request("POST", f"/v1/rounds/{listed.id}/reports", json.dumps(body).encode())


def _fetch(listed: Listed) -> bytes:
    tag = f'If-None-Match: "{listed.head_list}-gzip"'
    return request("GET", f"/v1/head-lists/{listed.head_list}", b"", "Accept-Encoding: gzip", tag)


def _kept(folder: Path, name: str, requests: Iterator[bytes]) -> str:
    write_requests(folder / name, requests)
    return str(folder / name)


@contextmanager
def _place() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="blender-dp-bench-", dir=".bench"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def _sqlite() -> Iterator[str]:
    yield ""


@contextmanager
def _postgresql() -> Iterator[str]:
    server = Server()
    try:
        yield server.url(server.create())
    finally:
        server.remove()


DATABASES = {"SQLite": _sqlite, "PostgreSQL": _postgresql}
