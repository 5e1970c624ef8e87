"""The processes that serve requests: started, replaced when they die, and stopped without dropping a request.

uvicorn's own supervisor closes connections whose request is still being sent, and its workers survive when it is killed.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

import uvicorn

from blender_dp.collector.monitoring.metrics import add_up_ended, remove_files
from blender_dp.collector.server.shutdown_response import turned_away

NOT_STARTED = 3
"""The exit code of a process that could not start, the same as uvicorn's."""
GRACE_SECONDS = 30
"""How long requests under way may take when the collector is stopped."""
_WIRE_SECONDS = 1.0  # a request that was sent before its client could notice the stop has arrived by then
_LOOK_SECONDS = 0.2
_LOG = logging.getLogger("blender_dp.collector")


class DrainingServer(uvicorn.Server):
    """A server that, when it is stopped, still responds to requests that were already sent."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections; ask clients to close theirs; then close idle ones, and wait for the rest."""
        for server in self.servers:
            server.close()
        self.server_state.default_headers = [*self.server_state.default_headers, (b"connection", b"close")]
        end = asyncio.get_running_loop().time() + _WIRE_SECONDS
        await asyncio.sleep(0.05)  # a connection that was just accepted is not in `connections` yet
        while self.server_state.connections and asyncio.get_running_loop().time() < end and not self.force_exit:
            await asyncio.sleep(0.05)
        await super().shutdown(sockets)


def serve(options: dict[str, Any], workers: int, listener: socket.socket) -> int:
    """Serve until a signal stops it; return the exit code."""
    if workers > 1:
        return _Supervisor(options, workers, listener).run()
    _exit_when_stopped()
    server = DrainingServer(uvicorn.Config(**options))
    with turned_away(listener, lambda: server.should_exit):
        server.run(sockets=[listener.dup()])
    return 0 if server.started else NOT_STARTED


def _work(options: dict[str, Any], listener: socket.socket) -> None:
    """One of several processes."""
    threading.Thread(target=_stop_with_parent, name="parent", daemon=True).start()
    _exit_when_stopped()
    server = DrainingServer(uvicorn.Config(**options))
    try:
        server.run(sockets=[listener])
    finally:
        if _parent_has_ended():  # otherwise the parent does so
            remove_files()
    sys.exit(0 if server.started else NOT_STARTED)


def _exit_when_stopped() -> None:
    """Turn SIGTERM into an ordinary exit: uvicorn sends itself the signal again when it has finished."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))


def _parent_has_ended() -> bool:
    parent = multiprocessing.parent_process()
    return parent is not None and not parent.is_alive()


def _stop_with_parent() -> None:
    """Stop cleanly when the supervisor is gone, however it ended: nobody else would ever stop this process."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


class _Supervisor:
    """Keeps some processes running."""

    def __init__(self, options: dict[str, Any], workers: int, listener: socket.socket) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._options = options
        self._listener = listener
        self._stopped = threading.Event()
        self._workers: list[BaseProcess] = []
        self._count = workers

    def run(self) -> int:
        """Start them, replace those that die, and pass on the signal to stop."""
        before = {one: signal.signal(one, self._stop) for one in (signal.SIGTERM, signal.SIGINT)}
        code = 0
        try:
            self._workers = [self._started() for _ in range(self._count)]
            while not self._stopped.wait(_LOOK_SECONDS):
                for place, worker in enumerate(self._workers):
                    if worker.is_alive():
                        continue
                    if worker.exitcode == NOT_STARTED:  # another one would not start either
                        code = NOT_STARTED
                        self._stopped.set()
                        break
                    _LOG.error("a worker process ended with code %s and is replaced", worker.exitcode)
                    add_up_ended()
                    self._workers[place] = self._started()
            with turned_away(self._listener, lambda: True):
                self._drain()
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
        return code

    def _started(self) -> BaseProcess:
        worker = self._context.Process(target=_work, args=(self._options, self._listener), name="blender-dp worker")
        worker.start()
        return worker

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        self._stopped.set()

    def _drain(self) -> None:
        """Stop them all and wait; one that does not end in time is killed."""
        for worker in self._workers:
            worker.terminate()
        end = time.monotonic() + GRACE_SECONDS + 2 * _WIRE_SECONDS + 5
        for worker in self._workers:
            worker.join(max(end - time.monotonic(), 0))
            if worker.is_alive():
                worker.kill()
                worker.join()
