"""Processes that share work, and end at once when nobody wants the results any more."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """A pool of new processes. After Ctrl-C or an error they are terminated: work in progress may take minutes."""
    others = set(active_children())
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    try:
        with _ignored_interrupts():
            for _ in range(count):
                pool.submit(int)  # starts a process
        yield pool
    except BaseException:
        for process in set(active_children()) - others:
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
