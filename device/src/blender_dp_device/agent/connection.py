"""HTTP/1.1 connections to one server, on the standard library, with limits on the time and length of every exchange.

The caller's own thread sends and receives, so nothing leaves the device after a request has failed or timed out. Another
thread only resolves names and connects, which has no deadline; a connection that comes too late is closed unused.
"""

from __future__ import annotations

import base64
import io
import os
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_STEP_SECONDS = 30.0  # without a byte sent or received
_IDLE_SECONDS = 5.0


class Origin(NamedTuple):
    """Where a server listens."""

    is_tls: bool
    host: str
    port: int

    @property
    def authority(self) -> str:
        """Host and port, as in the Host header."""
        return self.full_authority.removesuffix(":443" if self.is_tls else ":80")

    @property
    def full_authority(self) -> str:
        """Host and port, even if it is the default port."""
        return f"{f'[{self.host}]' if ':' in self.host else self.host.encode('idna').decode()}:{self.port}"


class Allowance:
    """What one exchange may take: seconds in all, and bytes received, headers included. None sets no limit."""

    def __init__(self, seconds: float | None, max_bytes: int | None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds
        self._bytes = max_bytes

    def step(self) -> float:
        """How long the next step may take; `TimeoutError` if no time is left."""
        left = _STEP_SECONDS if self._until is None else min(_STEP_SECONDS, self._until - time.monotonic())
        if left <= 0:
            raise TimeoutError
        return left

    def receive(self, count: int) -> int:
        """Subtract received bytes; `HTTPException` beyond the limit, whatever length the server announces."""
        if self._bytes is not None:
            self._bytes -= count
            if self._bytes < 0:
                raise HTTPException("too long")
        return count


class _Reader(io.RawIOBase):
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        connection = self._connection
        connection.socket.settimeout(connection.allowance.step())
        return connection.allowance.receive(connection.socket.recv_into(buffer))


@dataclass(eq=False)
class Connection:
    """A socket on which everything stays within the allowance of the current exchange."""

    socket: socket.socket
    allowance: Allowance
    idle_since: float = 0.0
    process: int = field(default_factory=os.getpid)

    def exchange(self, method: str, request: bytes) -> HTTPResponse:
        """Send a request and read the head of its response."""
        rest = memoryview(request)
        while rest:
            self.socket.settimeout(self.allowance.step())
            rest = rest[self.socket.send(rest) :]
        response = HTTPResponse(self, method=method)  # type: ignore[arg-type]  # it only uses `makefile`
        response.begin()
        return response

    def makefile(self, _mode: str) -> io.BufferedReader:
        """What a response is read from."""
        return io.BufferedReader(_Reader(self))

    @property
    def is_usable(self) -> bool:
        """Whether an idle connection can be reused: readable if the server has closed it, and not ours after a fork."""
        if time.monotonic() - self.idle_since > _IDLE_SECONDS or self.process != os.getpid():
            return False
        with selectors.DefaultSelector() as selector:
            selector.register(self.socket, selectors.EVENT_READ)
            return not selector.select(0)


class Connections:
    """Connections to one server, kept open for a few seconds for the next request. Thread-safe."""

    def __init__(self, origin: Origin, tls: ssl.SSLContext | None = None) -> None:
        self._origin = origin
        self._tls = (tls or ssl.create_default_context()) if origin.is_tls else None
        self._idle: list[Connection] = []
        self._lock = threading.Lock()

    @contextmanager
    def exchange(self, allowance: Allowance, method: str, request: bytes) -> Iterator[HTTPResponse]:
        """Send a request and yield its response; unless it is read to its end, the connection is closed."""
        connection = self._reuse(allowance) or self._open(allowance)
        try:
            with connection.exchange(method, request) as response:
                yield response
                is_whole = response.isclosed() and not response.length and not response.will_close
        except BaseException:
            connection.socket.close()
            raise
        if not is_whole:
            connection.socket.close()
            return
        connection.idle_since = time.monotonic()
        with self._lock:
            self._idle.append(connection)

    def close(self) -> None:
        """Close all idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.socket.close()

    def _reuse(self, allowance: Allowance) -> Connection | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection = self._idle.pop()
            if connection.is_usable:
                connection.allowance = allowance
                return connection
            connection.socket.close()

    def _open(self, allowance: Allowance) -> Connection:
        proxy = _proxy(self._origin) if self._origin.is_tls else None  # a proxy must not see unencrypted bytes
        host, port = (proxy.hostname or "", proxy.port or 80) if proxy else self._origin[1:]
        connection = Connection(_connect(host, port, allowance.step()), allowance)
        try:
            connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if proxy:
                _tunnel(connection, self._origin, proxy)
            if self._tls:
                connection.socket.settimeout(allowance.step())
                connection.socket = self._tls.wrap_socket(connection.socket, server_hostname=self._origin.host)
        except BaseException:
            connection.socket.close()
            raise
        return connection


def _proxy(origin: Origin) -> SplitResult | None:
    """The proxy that the environment (or, on Windows and macOS, the system) names for TLS, if there is one."""
    named = getproxies()
    url = named.get("https") or named.get("all")
    if not url or proxy_bypass(origin.host):
        return None
    proxy = urlsplit(url if "://" in url else f"http://{url}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise HTTPException("unsupported proxy")
    return proxy


def _tunnel(connection: Connection, origin: Origin, proxy: SplitResult) -> None:
    """Ask a proxy to forward encrypted bytes, of which it sees only the length."""
    head = f"CONNECT {origin.full_authority} HTTP/1.1\r\nHost: {origin.full_authority}\r\n"
    if proxy.username:
        login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
        head += f"Proxy-Authorization: Basic {base64.b64encode(login).decode()}\r\n"
    if connection.exchange("CONNECT", f"{head}\r\n".encode("ascii")).status != 200:
        raise HTTPException("proxy refused")


def _connect(host: str, port: int, seconds: float) -> socket.socket:
    """Connect, or raise `TimeoutError`; a connection that succeeds later is closed at once."""
    result: Future[socket.socket] = Future()

    def connect() -> None:
        try:
            one = socket.create_connection((host, port), seconds)
        except BaseException as error:  # noqa: BLE001 (raised again in the waiting thread)
            with suppress(InvalidStateError):
                result.set_exception(error)
            return
        try:
            result.set_result(one)
        except InvalidStateError:  # nobody is waiting any more
            one.close()

    threading.Thread(target=connect, daemon=True).start()
    try:
        return result.result(seconds)
    except TimeoutError:
        if not result.cancel() and result.exception() is None:  # it succeeded at the last moment
            result.result().close()
        raise
