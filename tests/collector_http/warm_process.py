"""The command as a process that starts with everything imported, and runs as long as a test needs it.

A server imports what the collector's verbs need, and forks for every command, which then ends as the installed command does.
`test_serve.py`, `test_operations.py`, `test_tutorial.py` and `hostile.py` start the installed command.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, STDOUT
from tempfile import TemporaryDirectory, TemporaryFile
from types import TracebackType
from typing import IO, NoReturn

COLUMNS = "200"
IMPORTED = (
    "blender_dp.cli.round", "blender_dp.collector.server.processes", "blender_dp.collector.server.startup",
    "blender_dp_device.agent.client", "httpx", "sqlalchemy.dialects.postgresql.psycopg", "uvicorn.lifespan.on",
    "uvicorn.loops.auto", "uvicorn.protocols.http.httptools_impl",
)  # fmt: skip


class Warm:
    """A running command, with the methods of `subprocess.Popen` that tests need."""

    def __init__(self, words: Sequence[str | Path], environment: Mapping[str, str], *handles: int) -> None:
        """Start a command; the handles are its standard input, output and error."""
        self._status, theirs = socket.socketpair()
        request = json.dumps({"words": [str(word) for word in words], "environment": dict(environment)}).encode()
        with theirs:
            socket.send_fds(_server(), [len(request).to_bytes(4, "big")], [*handles, theirs.fileno()])
            _server().sendall(request)
        self.stdout: IO[str] | None = None
        self.returncode: int | None = None
        self.pid = self._read()

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._status.settimeout(timeout)
            self.returncode = self._read()
        return self.returncode

    def _read(self) -> int:
        received = self._status.recv(4)
        assert received, "the server has ended"
        return int.from_bytes(received, "big", signed=True)

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:  # a test has failed or run out of time, so the command may never end by itself
            self.kill()
        if self.stdout:  # not before: if a thread is reading, this waits until the command ends
            self.stdout.close()
        self.wait()
        self._status.close()


def started(
    words: Sequence[str | Path],
    environment: Mapping[str, str],
    *,
    stdin: int = DEVNULL,
    stderr: int = DEVNULL,
) -> Warm:
    """Start a command whose output can be read; `stderr` is DEVNULL, STDOUT or a handle, `stdin` DEVNULL or a handle."""
    ours, theirs = os.pipe()
    nothing = os.open(os.devnull, os.O_RDWR)
    chosen = {DEVNULL: nothing, STDOUT: theirs}
    one = Warm(words, environment, chosen.get(stdin, stdin), theirs, chosen.get(stderr, stderr))
    one.stdout = os.fdopen(ours)
    os.close(theirs)
    os.close(nothing)
    return one


def ended(words: Sequence[str | Path], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command, and return what it has printed."""
    with TemporaryFile() as nothing, TemporaryFile() as output, TemporaryFile() as errors:
        with Warm(words, environment, nothing.fileno(), output.fileno(), errors.fileno()) as one:
            code = one.wait(60)
        printed = []
        for file in (output, errors):
            file.seek(0)
            printed.append(file.read().decode())
    return subprocess.CompletedProcess([*words], code, *printed)


@cache
def _server() -> socket.socket:
    """A connection to the server, which ends with this process."""
    ours, theirs = socket.socketpair()
    environment = {**os.environ, "COLUMNS": COLUMNS, "NO_COLOR": "1"}
    with theirs:
        command = [sys.executable, __file__, str(theirs.fileno())]
        files = {"stdin": DEVNULL, "stdout": DEVNULL, "pass_fds": [theirs.fileno()]}
        server = subprocess.Popen(command, env=environment, start_new_session=True, **files)

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


def serve(control: socket.socket) -> None:
    """Start commands until the other end is closed."""
    for name in IMPORTED:
        importlib.import_module(name)
    with TemporaryDirectory() as folder, suppress(SystemExit):  # create a database, so that nothing is imported later
        sys.argv = ["blender-dp", "serve", "--data", folder, "--migrate-only"]
        importlib.import_module("blender_dp.cli.app").run_command()
    gc.freeze()
    atexit.register(gc.unfreeze)  # otherwise libraries complain about objects that are never freed
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system forgets the processes that end
    while (received := socket.recv_fds(control, 4, 4))[0]:
        length, handles, *_ = received
        request = json.loads(control.recv(int.from_bytes(length, "big"), socket.MSG_WAITALL))
        if not os.fork():
            control.close()
            _watch(handles[:3], socket.socket(fileno=handles[3]), **request)
        for handle in handles:
            os.close(handle)


def _watch(handles: list[int], status: socket.socket, words: list[str], environment: dict[str, str]) -> NoReturn:
    """Start the command in another process; report its number, and later its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if not child:
        status.close()
        _be(handles, words, environment)
    for handle in handles:
        os.close(handle)
    status.sendall(child.to_bytes(4, "big"))
    status.sendall(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]).to_bytes(4, "big", signed=True))
    os._exit(0)


def _be(handles: list[int], words: list[str], environment: dict[str, str]) -> NoReturn:
    """Be the command from now on."""
    os.setsid()
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
        os.close(handle)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout, sys.stderr = (os.fdopen(one, "w", buffering=1, closefd=False) for one in (1, 2))
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["blender-dp", *words]
    importlib.import_module("blender_dp.cli").main()
    sys.exit()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
