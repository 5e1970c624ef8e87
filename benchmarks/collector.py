"""The collector under load: a real server, a load generator next to it, and the server's own no-op endpoint as the limit."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.load import Load, Task, request, run, write_requests
from benchmarks.machine import cores
from benchmarks.result import Cell, Result, Verdict
from benchmarks.served import Listed, Served, served
from blender_dp.collector.storage import report_rows
from blender_dp.collector.storage.store import Store
from blender_dp_device.wire.cells import encode_cells
from tests.collector.places import Server

CORES = 2
CONNECTIONS = 128
SECONDS = 5.0
ROUNDS = 3
SINGLES = 60_000  # more than are sent in one run, so that none is a duplicate
PACED_SHARE, PACED_CONNECTIONS, PACED_SECONDS = 0.7, 512, 10.0
BATCH, BATCHES, BATCH_CONNECTIONS = 5_000, 100, 4
LARGE, FILL_BATCH = 10_000_000, 500_000
ALL_ACCEPTED = '{"refused":[]}'
BATCHED_TARGET = {"SQLite": 30_000, "PostgreSQL": 50_000}


@dataclass(frozen=True)
class Figures:
    """The figures of one database."""

    name: str
    loads: dict[str, Load]
    paced: Load
    batched: Load
    release_seconds: float
    peak_bytes: int

    def to_noop(self, what: str) -> float:
        return self.loads[what].rate / self.loads["no-op"].rate


def measure() -> Result:
    with cores(CORES):
        figures = [measured(name) for name in DATABASES]
    return result(figures)


def result(figures: list[Figures]) -> Result:
    return Result(
        "collector",
        "reports over HTTP, from the socket to the disk",
        f"`blender-dp serve` with default settings, one process, with the load generator and the database on {CORES} cores. "
        f"{CONNECTIONS} connections, one request at a time on each, best of {ROUNDS} runs of {SECONDS:.0f} s, taking turns; "
        f"batches of {BATCH:,} over {BATCH_CONNECTIONS} connections. Every report is new, and on disk before its response. "
        f"The paced load follows a fixed schedule at {PACED_SHARE:.0%} of the best rate, and times count from when a "
        "request was due. The release: from the request to close a round until it is published; peak memory of the server.",
        [row for one in figures for row in _rows(one)],
        [verdict for one in figures for verdict in _verdicts(one)],
    )


def measured(name: str) -> Figures:
    with scratch_folder() as folder, DATABASES[name]() as database, served(folder / "data", database) as server:
        first = server.listed("load")
        server.released(first)  # so that there is a release to search
        listed = server.listed_again(first.campaign)
        loads: dict[str, Load] = {}
        for turn in range(ROUNDS):
            for what, task in _tasks(server, listed, folder).items():
                load = run(task)
                say(f"{name}, turn {turn + 1}, {what}: {load.rate:,.0f}/s")
                loads[what] = max(load, loads.get(what, load), key=lambda one: one.rate)
        rate = PACED_SHARE * loads["single report"].rate
        singles = _stored(folder, _singles(listed, int(rate * PACED_SECONDS) + 1))
        paced = run(Task(server.port, singles, PACED_CONNECTIONS, PACED_SECONDS, 200, ALL_ACCEPTED, rate))
        say(f"{name}, paced: p95 {paced.p95 * 1000:.0f} ms")
        batched = run(
            Task(server.port, _stored(folder, _batches(listed)), BATCH_CONNECTIONS, 0, 200, ALL_ACCEPTED, once=True)
        )
        say(f"{name}, batched: {batched.rate * BATCH:,.0f}/s")
        seconds = _released(server, database or str(folder / "data" / "collector.db"))
        say(f"{name}, {LARGE:,} reports released in {seconds:.1f} s, peak {server.peak_bytes / 1e9:.2f} GB")
        return Figures(name, loads, paced, batched, seconds, server.peak_bytes)


def _tasks(server: Served, listed: Listed, folder: Path) -> dict[str, Task]:
    sent = {
        "no-op": (iter([request("GET", "/__lbheartbeat__")]), 200, "{}"),
        "head list, 304": (iter([_fetch(listed)]), 304, ""),
        "current round of a campaign": (iter([request("GET", f"/v1/rounds/current?campaign={listed.campaign}")]), 200, ""),
        "search in a campaign": (iter([request("GET", f"/v1/search?campaign={listed.campaign}&q=query")]), 200, ""),
        "single report": (_singles(listed, SINGLES), 200, ALL_ACCEPTED),
    }
    return {
        what: Task(server.port, _stored(folder, requests), CONNECTIONS, SECONDS, status, body)
        for what, (requests, status, body) in sent.items()
    }


def _released(server: Served, database: str) -> float:
    """How long it takes to close and release a large round."""
    listed = server.listed("large")
    cells = [encode_cells(report) for report in listed.cells(FILL_BATCH // 50)] * 50
    store = Store.open(database)
    for first in range(0, LARGE, FILL_BATCH):
        say(f"filling, {first:,} reports")
        head = first.to_bytes(4, "big")  # in order of id: in any other order this takes an hour
        with store.write("benchmark") as connection:
            report_rows.insert(connection, listed.id, [(head + os.urandom(12), report) for report in cells])
    store.close()
    start = time.perf_counter()
    server.operator("POST", f"/v1/operator/rounds/{listed.id}/close")
    release = server.reached(listed.id, "released")["release"]
    seconds = time.perf_counter() - start
    content = httpx.get(f"{server.url}/v1/releases/{release}").json()["content"]
    if content["release"]["manifest"]["reports"] != LARGE:
        raise SystemExit("The release does not have all reports.")
    return seconds


def _singles(listed: Listed, count: int) -> Iterator[bytes]:
    cells = itertools.cycle(listed.cells(1000))
    return (_posted(listed, [report]) for report in itertools.islice(cells, count))


def _batches(listed: Listed) -> Iterator[bytes]:
    cells = itertools.cycle(listed.cells(10_000))
    return (_posted(listed, list(itertools.islice(cells, BATCH))) for _ in range(BATCHES))


def _posted(listed: Listed, reported: list[list[int]]) -> bytes:
    reports = [{"id": os.urandom(16).hex(), "head_list": listed.head_list, "cells": cells} for cells in reported]
    return request("POST", f"/v1/rounds/{listed.id}/reports", json.dumps({"reports": reports}).encode())


def _fetch(listed: Listed) -> bytes:
    tag = f'If-None-Match: "{listed.head_list}-gzip"'
    return request("GET", f"/v1/head-lists/{listed.head_list}", b"", "Accept-Encoding: gzip", tag)


def _stored(folder: Path, requests: Iterator[bytes]) -> str:
    handle, name = tempfile.mkstemp(dir=folder)
    os.close(handle)
    write_requests(Path(name), requests)
    return name


def _rows(one: Figures) -> list[dict[str, Cell]]:
    def row(what: str, rate: float, load: Load) -> dict[str, Cell]:
        to_noop: Cell = load.rate / one.loads["no-op"].rate if what in one.loads else ""
        times = {f"p{share} ms": getattr(load, f"p{share}") * 1000 for share in (50, 95, 99)}
        return {"database": one.name, "what": what, "per s": rate, "relative to no-op": to_noop, **times}

    return [
        *(row(what, load.rate, load) for what, load in one.loads.items()),
        row("single report, paced", one.paced.rate, one.paced),
        row("reports in batches", one.batched.rate * BATCH, one.batched),
    ]


def _verdicts(one: Figures) -> list[Verdict]:
    batched, target = one.batched.rate * BATCH / 1000, BATCHED_TARGET[one.name] / 1000
    return [
        Verdict(f"{one.name}, single reports relative to no-op", one.to_noop("single report"), 0.5, "at least"),
        Verdict(f"{one.name}, reports in batches", batched, target, "at least", " thousand/s"),
        Verdict(f"{one.name}, p95 at {PACED_SHARE:.0%} of the best rate", one.paced.p95 * 1000, 200, "at most", " ms"),
        Verdict(
            f"{one.name}, head list with If-None-Match relative to no-op", one.to_noop("head list, 304"), 0.8, "at least"
        ),
        Verdict(
            f"{one.name}, current round of a campaign relative to no-op",
            one.to_noop("current round of a campaign"),
            0.8,
            "at least",
        ),
        Verdict(f"{one.name}, search in a campaign relative to no-op", one.to_noop("search in a campaign"), 0.8, "at least"),
        Verdict(f"{one.name}, {LARGE:,} reports, from closing to the release", one.release_seconds, 60, "at most", " s"),
        Verdict(f"{one.name}, peak memory of the server", one.peak_bytes / 1e9, 2, "at most", " GB"),
    ]


@contextmanager
def scratch_folder() -> Iterator[Path]:
    Path(".bench").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="collector-", dir=".bench"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def _sqlite() -> Iterator[str]:
    yield ""


@contextmanager
def _postgresql() -> Iterator[str]:
    server = Server(synced=True)
    try:
        yield server.url(server.create())
    finally:
        server.remove()


def say(text: str) -> None:
    print(text, file=sys.stderr)


DATABASES = {"SQLite": _sqlite, "PostgreSQL": _postgresql}
