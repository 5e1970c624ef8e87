"""Reports of many requests, committed together: durable before any of them gets a response, with one sync for all."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from contextlib import suppress
from queue import SimpleQueue

from blender_dp.collector.rounds.contributions import Contributions
from blender_dp.collector.storage.report_rows import Report
from blender_dp.errors import StateError

_Waiting = tuple[str, list[Report], "asyncio.Future[None]"]

_STOPPED = StateError("collector", "is stopping", "Send it again")
_MOST_BYTES = 3_200_000  # in one transaction: 50,000 reports of one cell
_ROW_BYTES = 60  # what a database stores of a report beside its cells


class ReportWriter:
    """Collects the reports of all requests and writes them from one thread."""

    def __init__(self, contributions: Contributions) -> None:
        self._contributions = contributions
        self._waiting: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="report writer", daemon=True)
        self._thread.start()

    async def add(self, name: str, reports: list[Report]) -> None:
        """Return once the reports are on disk; raise the error if they cannot be stored."""
        if self._stopped:
            raise _STOPPED
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.put((name, reports, done))
        await done

    def stop(self) -> None:
        """Write the waiting reports, and stop."""
        self._stopped = True
        self._waiting.put(None)
        self._thread.join()
        while not self._waiting.empty():  # those that arrived at the same moment
            late = self._waiting.get()
            if late is not None:
                _finish([late[2]], _STOPPED)

    def _work(self) -> None:
        while True:
            first = self._waiting.get()
            if first is None:
                return
            batch = [first]
            size = _size(first)
            while size < _MOST_BYTES and not self._waiting.empty():
                more = self._waiting.get()
                if more is None:
                    self._waiting.put(None)
                    break
                batch.append(more)
                size += _size(more)
            self._write(batch)

    def _write(self, batch: list[_Waiting]) -> None:
        by_round: defaultdict[str, list[_Waiting]] = defaultdict(list)
        for one in batch:
            if not one[2].cancelled():  # the client went away
                by_round[one[0]].append(one)
        for name, parts in by_round.items():
            problem: Exception | None = None
            try:
                self._contributions.add_reports(name, [report for _, reports, _ in parts for report in reports])
            except Exception as error:  # noqa: BLE001 (raised again in the waiting requests)
                problem = error
            _finish([done for _, _, done in parts], problem)


def _size(one: _Waiting) -> int:
    """The bytes of a request's reports in the database; they all have the same size."""
    reports = one[1]
    return len(reports) * (_ROW_BYTES + len(reports[0][1])) if reports else 0


def _finish(waiting: list[asyncio.Future[None]], problem: Exception | None) -> None:
    """Let all waiting requests continue: each loop is woken once for all of its requests, not once for each."""
    by_loop: defaultdict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = defaultdict(list)
    for done in waiting:
        by_loop[done.get_loop()].append(done)
    for loop, some in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed: nobody is waiting any more
            loop.call_soon_threadsafe(_settle, some, problem)


def _settle(waiting: list[asyncio.Future[None]], problem: Exception | None) -> None:
    for done in waiting:
        if done.done():
            continue  # the client went away in the meantime
        if problem is None:
            done.set_result(None)
        else:
            done.set_exception(problem)
