"""Middleware that counts requests, refuses what is too large, too slow or too much, and turns failures into problems."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from blender_dp.collector.http.cross_origin import ALLOWED, device_method, preflight_response
from blender_dp.collector.http.operations_routes import PREFIXES
from blender_dp.collector.http.problems import ProblemError, problem, unexpected
from blender_dp.collector.http.security_headers import EVERYWHERE, NO_PAGE, POLICY
from blender_dp.collector.http.service import SMALL_BYTES, Service
from blender_dp.collector.monitoring.log_lines import LOG, REQUEST, ROUND
from blender_dp_device.entropy import system_bytes

_ID_BYTES = 8
_ROUND = re.compile(r"/rounds/([0-9a-f]{32})(?:/|$)")
_EVERYWHERE = [(name.encode(), value.encode()) for name, value in EVERYWHERE.items()]
_UNLESS_CHOSEN = [(b"cache-control", b"no-store"), (POLICY.encode(), NO_PAGE.encode())]
_BUSY = HTTPStatus.TOO_MANY_REQUESTS, "busy", "too many concurrent requests", {"Retry-After": "5"}


class Limits:
    """The middleware."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests that are within the limits."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        service = self._service
        named = _ROUND.search(scope["path"])
        REQUEST.set(system_bytes(_ID_BYTES).hex())  # random: a counter would reveal how many other requests there were
        ROUND.set(named[1] if named else "")
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        turn = _Turn(service)
        response = _Response(service, turn, send, inner, with_body=scope["method"] != "HEAD")
        body = _Body(service, turn, receive, self._max_bytes(scope))
        if not _has_body(scope):
            turn.begin()
        try:
            await (self._early_response(scope) or self._app)(inner, body, response)
        except Exception as error:  # noqa: BLE001 (a server would log it with its text, which may quote a record)
            refusal = unexpected(error)
            if not response.started:
                await refusal(inner, receive, response)
        finally:
            turn.end()
            service.bytes_under_way -= body.bytes

    def _early_response(self, scope: Scope) -> ASGIApp | None:
        """The response that needs neither the body nor the routes, if there is one."""
        maximum = self._max_bytes(scope)
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 18 or int(length) > maximum:
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", _too_large(maximum), {"Connection": "close"})
        if self._service.under_way > self._service.settings.max_waiting and not scope["path"].startswith(PREFIXES):
            return problem(*_BUSY)
        return preflight_response(scope) if self._service.settings.web_pages else None

    def _max_bytes(self, scope: Scope) -> int:
        """The maximum length of the body: only reports come in bulk."""
        maximum = self._service.settings.max_body_bytes
        return maximum if scope["path"].endswith("/reports") else min(maximum, SMALL_BYTES)


def _has_body(scope: Scope) -> bool:
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


class _Turn:
    """A request's place among those under way, from the end of its body to the start of its response.

    Otherwise slow clients would occupy all places: those that send slowly, and those that read slowly.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._places = 0

    def begin(self) -> None:
        self._service.under_way += 1 - self._places
        self._places = 1

    def end(self) -> None:
        self._service.under_way -= self._places
        self._places = 0


class _Body:
    """A request's body, which must be short and fast enough whatever its headers say, and must fit into memory."""

    def __init__(self, service: Service, turn: _Turn, receive: Receive, maximum: int) -> None:
        self._service = service
        self._turn = turn
        self._maximum = maximum
        self._receive = receive
        self.bytes = 0
        self._until = asyncio.get_running_loop().time() + service.settings.max_body_seconds
        self._ended = False

    async def __call__(self) -> Message:
        if self._ended:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):  # several times as fast as anyio's
                message = await self._receive()
        except TimeoutError:
            raise ProblemError(
                HTTPStatus.REQUEST_TIMEOUT, "slow", "the body did not arrive in time", {"Connection": "close"}
            ) from None
        self.bytes += len(message.get("body", b""))
        self._service.bytes_under_way += len(message.get("body", b""))
        self._ended = not message.get("more_body", False)
        if self._ended and message["type"] == "http.request":
            self._turn.begin()
        if self.bytes > self._maximum:
            detail, headers = _too_large(self._maximum), {"Connection": "close"}
            raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", detail, headers)
        service, settings = self._service, self._service.settings
        if service.bytes_under_way > settings.max_waiting_bytes or service.under_way > settings.max_waiting:
            raise ProblemError(*_BUSY)
        return message


class _Response:
    """A response on its way out: counted, not to be cached unless it says so, and without a body for HEAD."""

    def __init__(self, service: Service, turn: _Turn, send: Send, scope: Scope, *, with_body: bool) -> None:
        self._service = service
        self._turn = turn
        self._scope = scope
        self._since = time.perf_counter()
        self._send = send
        self._with_body = with_body
        self.started = False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            self._turn.end()
            self._count(message["status"])
            headers = [*message.get("headers", []), *_EVERYWHERE, (b"x-request-id", REQUEST.get().encode())]
            chosen = {name.lower() for name, _ in message.get("headers", [])}
            headers += [(name, value) for name, value in _UNLESS_CHOSEN if name not in chosen]
            if self._service.settings.web_pages and device_method(self._scope["path"]):
                headers += ALLOWED
            message = {**message, "headers": headers}
        elif not self._with_body:
            message = {**message, "body": b""}
        await self._send(message)

    def _count(self, status: int) -> None:
        metrics, route = self._service.metrics, getattr(self._scope.get("route"), "path", "none")
        metrics.count(status)
        metrics.seconds.labels(route).observe(time.perf_counter() - self._since)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            LOG.warning("%s: response %d", route, status)


def _too_large(maximum: int) -> str:
    return f"the body has more than {maximum} bytes"
