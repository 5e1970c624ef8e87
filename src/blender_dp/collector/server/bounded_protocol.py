"""HTTP/1.1 for one connection, with limits: uvicorn's own protocol has none for headers, slow readers and idle connections.

The parser (llhttp) buffers a header until it is complete, and copies it whenever a part arrives; so bytes are counted before
the parser sees them. One timer per connection checks the deadlines, which costs a request nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from blender_dp.collector.http.problems import problem
from blender_dp.collector.http.security_headers import EVERYWHERE, NO_PAGE, POLICY
from blender_dp.collector.settings.connection_limits import ConnectionLimits
from blender_dp_device.wire.problems import MEDIA_TYPE

_HEADERS = "".join(
    f"{name}: {value}\r\n" for name, value in {**EVERYWHERE, POLICY: NO_PAGE, "cache-control": "no-store"}.items()
).encode()
_PROGRESS_BYTES = 32_768  # a client that reads less than this in `write_seconds` is too slow


class _Refused(Exception):  # noqa: N818 (control flow, not an error)
    """Stops the parser; the protocol already has the response."""


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with `ConnectionLimits`, which the application's lifespan yields as the state `limits`.

    It also yields `count`, which is called with the status of every response that the application does not see.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:  # noqa: ANN401 (uvicorn's)
        super().__init__(*arguments, **more)
        self.limits: ConnectionLimits = self.app_state.get("limits") or ConnectionLimits()
        self._in_head = True
        self._quiet = 0  # bytes without effect so far: an incomplete head, trailers, extensions of chunks
        self._since: float | None = None  # when the current head or body started
        self._unsent = 0
        self._unsent_since = 0.0
        self._refusal = HTTPStatus.BAD_REQUEST, "malformed", "the request cannot be read"
        limits = self.limits
        self._interval = min(limits.head_seconds, limits.body_seconds, limits.write_seconds) / 4
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the timer; refuse the connection if there are too many."""
        super().connection_made(transport)
        self._since = self._unsent_since = self.loop.time()
        self._timer = self.loop.call_later(self._interval, self._check)
        if len(self.connections) > self.limits.possible_connections:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "busy", "too many connections")

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass on as many bytes as a head may have, and then the rest."""
        if self.transport.is_closing():
            return
        if self._in_head:
            if self._since is None:
                self._since = self.loop.time()
            first, data = data[: self.limits.head_bytes - self._quiet], data[self.limits.head_bytes - self._quiet :]
            self._feed(first)
        if data and not self.transport.is_closing():
            self._feed(data)

    def _feed(self, data: bytes) -> None:
        self._quiet += len(data)
        super().data_received(data)
        if self._quiet >= self.limits.head_bytes and not self.transport.is_closing():
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "headers", _TOO_LARGE.format(self.limits.head_bytes))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Accept a header; trailers, which come after a body, are refused."""
        if not self._in_head or len(self.headers) >= self.limits.headers:
            detail = f"there are more than {self.limits.headers} headers" if self._in_head else "trailers are not supported"
            self._refusal = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "headers", detail
            raise _Refused
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request."""
        self._in_head, self._quiet = False, 0
        if len(self.pipeline) >= self.limits.pipelined:
            self._refusal = HTTPStatus.BAD_REQUEST, "malformed", "too many pipelined requests"
            raise _Refused
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Accept a part of a body."""
        self._quiet = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Expect another head."""
        self._in_head, self._quiet, self._since = True, 0, None
        super().on_message_complete()

    def resume_writing(self) -> None:
        """Note that the client has read most of what it was sent."""
        self._unsent_since = self.loop.time()
        super().resume_writing()

    def _unsupported_upgrade_warning(self) -> None:
        """Log nothing: anyone could fill the log with it."""

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (uvicorn's text is not a problem document)
        """Respond to what the parser or one of the limits above has refused."""
        self._refuse(*self._refusal)

    def _check(self) -> None:
        """Check the deadlines."""
        self._timer = self.loop.call_later(self._interval, self._check)
        now, limits = self.loop.time(), self.limits
        if self._is_stuck(now):
            self.transport.abort()
        elif self._since is None or self.transport.is_closing():
            pass
        elif self._in_head and now - self._since > limits.head_seconds:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "slow", "the headers did not arrive in time")
        elif self._has_responded and now - self._since > limits.head_seconds + limits.body_seconds:
            self.transport.abort()  # a body that nobody waits for

    @property
    def _has_responded(self) -> bool:
        """Whether the current request has its response; until then, the application watches the time."""
        return self.cycle is None or self.cycle.response_complete

    def _is_stuck(self, now: float) -> bool:
        """Whether the client reads its response too slowly, or not at all."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent or unsent <= self._unsent - _PROGRESS_BYTES or not self._unsent:
            self._unsent, self._unsent_since = unsent, now
        self._unsent = max(self._unsent, unsent)
        return now - self._unsent_since > self.limits.write_seconds and bool(unsent)

    def _refuse(self, status: HTTPStatus, name: str, detail: str) -> None:
        """Respond without the application, and close the connection."""
        if not self._has_responded and self.cycle.response_started:
            self.transport.abort()  # nobody could read a response within another one
            return
        body = bytes(problem(status, name, detail).body)
        count: Callable[[int], None] = self.app_state.get("count", lambda _: None)
        count(int(status))
        self.transport.write(
            STATUS_LINE[status]
            + f"content-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n".encode()
            + _HEADERS
            + b"connection: close\r\n\r\n"
            + body
        )
        self.transport.close()


_TOO_LARGE = "request line and headers have more than {} bytes, or the body has trailers"
