"""Processes that share work, and end at once when nobody wants the results any more."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from multiprocessing.queues import SimpleQueue

_ticks: list[SimpleQueue[None]] = []  # in a process of a pool: where it reports to


class Pool(ProcessPoolExecutor):
    """New processes, which report every finished part of their work."""

    def __init__(self, count: int) -> None:
        context = get_context("spawn")
        self._reported: SimpleQueue[None] = context.SimpleQueue()
        self._done = 0
        super().__init__(count, mp_context=context, initializer=_report_to, initargs=(self._reported,))

    def done(self) -> int:
        """The number of parts that were reported until now."""
        while not self._reported.empty():
            self._reported.get()
            self._done += 1
        return self._done


def _report_to(queue: SimpleQueue[None]) -> None:
    _ticks.append(queue)


def tick() -> None:
    """Report, from a process of a pool, that a part of its work is finished."""
    _ticks[-1].put(None)


@contextmanager
def processes(count: int) -> Iterator[Pool]:
    """A pool of new processes. After Ctrl-C or an error they are terminated: work in progress may take minutes."""
    others, ours = set(active_children()), set[BaseProcess]()
    pool = Pool(count)
    try:
        with _ignored_interrupts():
            for _ in range(count):
                pool.submit(int)  # starts a process
            ours = set(active_children()) - others  # before anything else starts processes of its own
        yield pool
    except BaseException:
        for process in ours:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C for a moment. Processes that start meanwhile ignore it as well, and leave it to this one to end them."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
