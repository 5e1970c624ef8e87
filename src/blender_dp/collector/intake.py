"""Many requests' reports, committed together: durable before any of them is answered, and one sync for all of them."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from concurrent.futures import Future
from queue import SimpleQueue

from blender_dp.collector.rounds import Rounds
from blender_dp.errors import StateError

Report = tuple[bytes, bytes]
"""A report's id, and its cells as bytes."""

_STOPPED = StateError("collector", "is being stopped", "Send it again")
_MOST = 50_000  # reports in one transaction


class Intake:
    """Takes reports of all requests and writes them from one thread."""

    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds
        self._waiting: SimpleQueue[tuple[str, list[Report], Future[None]] | None] = SimpleQueue()
        self._stopped = False
        self._thread = threading.Thread(target=self._work, name="intake", daemon=True)
        self._thread.start()

    async def add(self, name: str, reports: list[Report]) -> None:
        """Return once the reports are on the disk; raise what kept them from it."""
        if self._stopped:
            raise _STOPPED
        done: Future[None] = Future()
        self._waiting.put((name, reports, done))
        await asyncio.wrap_future(done)

    def stop(self) -> None:
        """Write what is waiting, and stop."""
        self._stopped = True
        self._waiting.put(None)
        self._thread.join()
        while not self._waiting.empty():  # who came at the same moment
            late = self._waiting.get()
            if late is not None and late[2].set_running_or_notify_cancel():
                late[2].set_exception(_STOPPED)

    def _work(self) -> None:
        while True:
            first = self._waiting.get()
            if first is None:
                return
            batch = [first]
            taken = len(first[1])
            while taken < _MOST and not self._waiting.empty():
                more = self._waiting.get()
                if more is None:
                    self._waiting.put(None)
                    break
                batch.append(more)
                taken += len(more[1])
            self._write(batch)

    def _write(self, batch: list[tuple[str, list[Report], Future[None]]]) -> None:
        by_round: defaultdict[str, list[tuple[list[Report], Future[None]]]] = defaultdict(list)
        for name, reports, done in batch:
            if done.set_running_or_notify_cancel():  # whoever went away is not answered, and cannot be any more
                by_round[name].append((reports, done))
        for name, parts in by_round.items():
            try:
                self._rounds.add_reports(name, [report for reports, _ in parts for report in reports])
            except Exception as error:  # noqa: BLE001 (whoever waits for it raises it again)
                for _, done in parts:
                    done.set_exception(error)
            else:
                for _, done in parts:
                    done.set_result(None)
