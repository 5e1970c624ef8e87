"""A load generator: HTTP/1.1 over plain asyncio sockets, in a separate process that reads its task as JSON.

It does as little as possible, to leave the processor to the server: it sends prepared bytes and reads the status and the
Content-Length of each response.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import uvloop

_END = b"\r\n\r\n"
_LENGTH = b"content-length: "


@dataclass(frozen=True)
class Task:
    """What to send, over how many connections, for how long; with a `rate`, on a schedule regardless of responses."""

    port: int
    requests: str
    """A file of requests, each preceded by its length in eight bytes. They are sent in turn, each as often as needed."""
    connections: int
    seconds: float
    expect: int
    body: str = ""
    """The expected body of every response; empty for any."""
    rate: float = 0.0
    once: bool = False
    """Stop when every request has been sent once, regardless of the time."""


@dataclass(frozen=True)
class Load:
    """The figures of one run."""

    responses: int
    seconds: float
    p50: float
    p95: float
    p99: float
    cpu_seconds: float

    @property
    def rate(self) -> float:
        return self.responses / self.seconds


def write_requests(path: Path, requests: Iterator[bytes]) -> None:
    """Write requests to a file for the load generator."""
    with path.open("wb") as file:
        for one in requests:
            file.write(len(one).to_bytes(8, "big") + one)


def request(method: str, target: str, body: bytes = b"", *headers: str) -> bytes:
    """A request as bytes."""
    length = [f"Content-Length: {len(body)}", "Content-Type: application/json"] if body else []
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: collector", *headers, *length, "", ""]).encode() + body


def run(task: Task) -> Load:
    """Run a task in another process."""
    command = [sys.executable, "-m", "benchmarks.load", json.dumps(asdict(task))]
    return Load(**json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))


class _Connection(asyncio.Protocol):
    """One request at a time."""

    def __init__(self, task: Task, received: Callable[[_Connection], None]) -> None:
        self._task = task
        self._body = task.body.encode()
        self._received = received
        self._buffer = b""
        self.transport: asyncio.WriteTransport | None = None
        self.due = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, body = self._buffer.partition(_END)
        if not end:
            return
        at = head.lower().find(_LENGTH)
        length = int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(body) >= length:
            self._buffer = b""
            if int(head[9:12]) != self._task.expect or (self._body and body != self._body):
                raise SystemExit(f"Unexpected response {head[9:12].decode()}: {body[:200].decode()}")
            self._received(self)

    def send(self, body: bytes, due: float) -> None:
        self.due = due
        self.transport.write(body)  # type: ignore[union-attr]


class _Generator:
    def __init__(self, task: Task) -> None:
        self._task = task
        self._requests = list(_read(Path(task.requests)))
        self._sent = 0
        self._taken: list[float] = []
        self._idle: deque[_Connection] = deque()  # used in turn: a server closes those that are idle for long
        self._waiting: deque[float] = deque()
        self._stopped = asyncio.Event()
        self._until = 0.0
        self._pending = 0

    async def run(self) -> Load:
        loop = asyncio.get_running_loop()
        for _ in range(self._task.connections):
            _, connection = await loop.create_connection(
                lambda: _Connection(self._task, self._received), "127.0.0.1", self._task.port
            )
            self._idle.append(connection)
        start, cpu = time.perf_counter(), time.process_time()
        self._until = start + self._task.seconds
        if self._task.rate:
            await self._on_schedule(start)
        else:
            while self._idle:
                self._next(self._idle.popleft())
            await self._stopped.wait()
        seconds = time.perf_counter() - start
        taken = sorted(self._taken)
        p50, p95, p99 = (taken[min(int(len(taken) * q), len(taken) - 1)] for q in (0.5, 0.95, 0.99))
        return Load(len(taken), seconds, p50, p95, p99, time.process_time() - cpu)

    def _received(self, connection: _Connection) -> None:
        now = time.perf_counter()
        self._taken.append(now - connection.due)  # since it was due, not since a connection was free
        self._pending -= 1
        if self._task.rate:
            if self._waiting:
                self._send(connection, self._waiting.popleft())
            else:
                self._idle.append(connection)
            return
        self._next(connection)

    def _next(self, connection: _Connection) -> None:
        now = time.perf_counter()
        over = self._sent >= len(self._requests) if self._task.once else now >= self._until
        if not over:
            self._send(connection, now)
        elif not self._pending:
            self._stopped.set()

    async def _on_schedule(self, start: float) -> None:
        """Send requests at fixed times, whether or not earlier ones got a response: a slow spell hides nothing."""
        due = start
        while due < self._until:
            now = time.perf_counter()
            while due <= now and due < self._until:
                if self._idle:
                    self._send(self._idle.popleft(), due)
                else:
                    self._waiting.append(due)
                due += 1 / self._task.rate
            await asyncio.sleep(max(due - time.perf_counter(), 0.001))  # not more often: it would take a core
        while self._pending or self._waiting:
            await asyncio.sleep(0.01)

    def _send(self, connection: _Connection, due: float) -> None:
        body = self._requests[self._sent % len(self._requests)]
        self._sent += 1
        self._pending += 1
        connection.send(body, due)


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while head := file.read(8):
            yield file.read(int.from_bytes(head, "big"))


def main() -> None:
    fields: dict[str, Any] = json.loads(sys.argv[1])

    async def go() -> Load:
        return await _Generator(Task(**fields)).run()

    print(json.dumps(asdict(uvloop.run(go()))))


if __name__ == "__main__":
    main()
