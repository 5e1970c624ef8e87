"""The HTTP service."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
import re
import shutil
import threading
import time
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from functools import lru_cache
from http import HTTPStatus
from typing import Any, TypeVar, TypeVarTuple

import anyio.to_thread
import brotli
from fastapi import FastAPI, Request
from sqlalchemy.pool import QueuePool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from blender_dp.collector.http import operator_routes as operator
from blender_dp.collector.http import public_routes as public
from blender_dp.collector.http.home_page import add_home
from blender_dp.collector.http.openapi import describe
from blender_dp.collector.http.operations_routes import PREFIXES, add_operations
from blender_dp.collector.http.problems import ProblemError, install, problem, unexpected
from blender_dp.collector.http.rate_limit import Sources
from blender_dp.collector.http.response_cache import Recent
from blender_dp.collector.http.round_watch import Watch
from blender_dp.collector.monitoring.log_lines import LOG, REQUEST, ROUND, about
from blender_dp.collector.monitoring.metrics import Metrics
from blender_dp.collector.rounds.lifecycle import Rounds
from blender_dp.collector.rounds.report_writer import Intake
from blender_dp.collector.secrets.identity import own_signer
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.settings.settings import Settings
from blender_dp.collector.storage.store import Store
from blender_dp.collector.worker import Worker
from blender_dp_device.entropy import system_bytes

_Given = TypeVarTuple("_Given")
_Made = TypeVar("_Made")
_SMALL_BYTES = 64_000  # a record of the longest texts, with every character escaped, has 50,000
_ID_BYTES = 8
_ROUND = re.compile(r"/rounds/([0-9a-f]{32})(?:/|$)")
_REMEMBERED = 16  # documents that are kept in memory, as they are and packed
_CONTRIBUTIONS = {"record", "withdrawal", "reports", "forget"}  # transactions that change no round and no campaign
_BUSY = HTTPStatus.TOO_MANY_REQUESTS, "busy", "too many requests at a time", {"Retry-After": "5"}


class Service:
    """What the routes share."""

    def __init__(self, settings: Settings) -> None:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.settings = settings
        store, keys = Store.open(settings.database_url), KeyFolder(settings.key_folder)
        try:
            self.signer = own_signer(store, settings.signing_key, keys)
        except Exception:
            store.close()
            raise
        self.rounds = Rounds(store, keys, self.signer, counting=settings.counting)
        self.intake = Intake(self.rounds)
        self.recent = Recent()
        store.on_commit.append(self._changed)
        self.watch = Watch(settings.stuck_seconds)
        self.worker = Worker(self.rounds, done=self._done, failed=self._failed)
        self.sources = Sources(settings.reports_per_minute) if settings.reports_per_minute else None
        self.metrics = Metrics()
        self.under_way = 0
        self.bytes_under_way = 0
        self._one_at_a_time = anyio.CapacityLimiter(1)
        self.keys_in_flight: set[str] = set()
        self.keys_lock = threading.Lock()
        self.listed: dict[str, public.Listed] = {}
        self._published: set[tuple[str, str]] = set()
        self.document = lru_cache(_REMEMBERED)(self._document)  # they never change
        self.packed = lru_cache(_REMEMBERED)(self._packed)
        self.content = lru_cache(_REMEMBERED)(self._content)

    def free_bytes(self) -> int:
        """How much room the disk has."""
        return shutil.disk_usage(self.settings.data).free

    def check_room(self) -> None:
        """Refuse to store anything when the disk is nearly full."""
        if self.free_bytes() < self.settings.min_free_bytes:
            raise ProblemError(HTTPStatus.INSUFFICIENT_STORAGE, "full", "the disk is nearly full; nothing was stored")

    def charge(self, request: Request, cost: int, at_least: int = 0) -> None:
        """Refuse a request from a source that has sent too much.

        `at_least` raises the cost, but never to more than a minute's worth, which no source could ever pay.
        """
        if self.sources is None:
            return
        most = self.settings.reports_per_minute
        if cost > most:
            detail = f"{most} reports in a minute are the most from one source"
            raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-many", detail)
        cost = max(cost, min(at_least, most))
        seconds = self.sources.wait(request.client.host if request.client else "", cost)
        if seconds:
            headers = {"Retry-After": str(math.ceil(seconds))}
            raise ProblemError(HTTPStatus.TOO_MANY_REQUESTS, "limited", "this source has sent too much", headers)

    async def work(self, size: int, function: Callable[[*_Given], _Made], *given: *_Given) -> _Made:
        """Call a function on a body of `size` bytes: a long one in another thread, and one at a time to save memory."""
        if size <= _SMALL_BYTES:
            return function(*given)
        return await anyio.to_thread.run_sync(function, *given, limiter=self._one_at_a_time)

    def measure(self) -> None:
        """Bring the metrics that are no counters up to date."""
        metrics, pool = self.metrics, self.rounds.store.engine.pool
        metrics.see_process()
        metrics.waiting.set(self.under_way)
        metrics.free.set(self.free_bytes())
        if isinstance(pool, QueuePool):
            metrics.connections.labels("in use").set(pool.checkedout())
            metrics.connections.labels("idle").set(pool.checkedin())
        for state, (count, seconds) in self.watch.numbers().items():
            metrics.rounds.labels(state).set(count)
            metrics.in_state.labels(state).set(seconds)

    def see_rounds(self) -> None:
        """Take note of the states of all rounds that are not over."""
        for name, state in self.watch.see(self.rounds.under_way()):
            with about(name):
                LOG.info("the round is %s", state)

    def _done(self) -> None:
        """The worker has done what there was to do."""
        self.watch.failures = 0
        self.see_rounds()
        self.measure()

    def _failed(self) -> None:
        self.watch.failures += 1
        self.metrics.failures.inc()

    def _changed(self, transaction: str) -> None:
        if transaction not in _CONTRIBUTIONS:
            self.recent.forget()

    def is_published(self, digest: str, kind: str) -> bool:
        """Whether a document was found once: it is there for ever."""
        return (digest, kind) in self._published

    def _document(self, digest: str, kind: str) -> bytes:
        body = self.rounds.object(digest, kind)
        if body is None:
            raise ProblemError(HTTPStatus.NOT_FOUND, "missing", "there is no such document")
        self._published.add((digest, kind))
        return body

    def _packed(self, digest: str, kind: str, coding: str) -> bytes:
        body = self.document(digest, kind)  # packed as well as can be: it is done once
        return brotli.compress(body) if coding == "br" else gzip.compress(body, mtime=0)

    def _content(self, digest: str, kind: str) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.document(digest, kind))["content"]
        return content


def create_app(settings: Settings) -> FastAPI:
    """The service for these settings. The tables must be there."""
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Any]]:
        service.worker.start()
        yield {"limits": settings.connection_limits, "count": service.metrics.count}  # for the protocol of every connection
        await anyio.to_thread.run_sync(service.worker.stop)
        await anyio.to_thread.run_sync(service.intake.stop)
        service.rounds.store.close()
        await anyio.to_thread.run_sync(end_traces)

    app = bare_app(lifespan=lifespan)
    app.state.service = service
    add_operations(app, service)
    add_home(app, service)
    app.add_middleware(Limits, service=service)
    end_traces = _trace(app, settings.traces)
    return app


def _trace(app: FastAPI, url: str) -> Callable[[], None]:
    """Send a span of every request to this URL, if there is one; returns what sends the last ones and stops."""
    if not url:
        return lambda: None
    from blender_dp.collector.monitoring.tracing import Tracing, sends_to  # noqa: PLC0415 (nothing is loaded unless it is used)

    provider = sends_to(url)
    app.add_middleware(Tracing, provider=provider)  # the outermost: it sees what the limits refuse, too
    return provider.shutdown


def bare_app(**more: Any) -> FastAPI:  # noqa: ANN401 (FastAPI's own)
    """The routes and their description, without anything behind them."""
    app = FastAPI(
        title="blender-dp collector",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,  # `describe` adds it
        redirect_slashes=False,  # a redirect repeats what was sent
        **more,
    )
    install(app)
    app.include_router(public.router)
    app.include_router(operator.router)
    describe(app)
    return app


class Limits:
    """Counts requests, refuses what is too large, too slow or too much, and lets no failure out but as a problem."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is within the limits."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        service = self._service
        named = _ROUND.search(scope["path"])
        REQUEST.set(system_bytes(_ID_BYTES).hex())  # drawn: a number would tell how many requests there were in between
        ROUND.set(named[1] if named else "")
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        turn = _Turn(service)
        answer = _Answer(service, turn, send, inner, with_body=scope["method"] != "HEAD")
        body = _Body(service, turn, receive, self._most_bytes(scope))
        if not _has_body(scope):
            turn.begin()
        try:
            await (self._refusal(scope) or self._app)(inner, body, answer)
        except Exception as error:  # noqa: BLE001 (a server would log it with its text, which may quote a record)
            refusal = unexpected(error)
            if not answer.begun:
                await refusal(inner, receive, answer)
        finally:
            turn.end()
            service.bytes_under_way -= body.bytes

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        most = self._most_bytes(scope)
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 18 or int(length) > most:
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", _too_large(most), {"Connection": "close"})
        if self._service.under_way > self._service.settings.max_waiting and not scope["path"].startswith(PREFIXES):
            return problem(*_BUSY)
        return None

    def _most_bytes(self, scope: Scope) -> int:
        """How long the body may be: only reports come in bulk."""
        most = self._service.settings.max_body_bytes
        return most if scope["path"].endswith("/reports") else min(most, _SMALL_BYTES)


def _has_body(scope: Scope) -> bool:
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


class _Turn:
    """A request's place among those under way, from the end of its body to the start of its response.

    Slow clients would otherwise occupy all places: those who are slow to send, and those who are slow to read.
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
    """A request's body, as long as it is short and quick enough, whatever its headers say, and there is room for it."""

    def __init__(self, service: Service, turn: _Turn, receive: Receive, most: int) -> None:
        self._service = service
        self._turn = turn
        self._most = most
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
        if self.bytes > self._most:
            detail, headers = _too_large(self._most), {"Connection": "close"}
            raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", detail, headers)
        service, settings = self._service, self._service.settings
        if service.bytes_under_way > settings.max_waiting_bytes or service.under_way > settings.max_waiting:
            raise ProblemError(*_BUSY)
        return message


class _Answer:
    """An answer on its way out: counted, not to be kept by anybody unless it says so, and without a body for HEAD."""

    def __init__(self, service: Service, turn: _Turn, send: Send, scope: Scope, *, with_body: bool) -> None:
        self._service = service
        self._turn = turn
        self._scope = scope
        self._since = time.perf_counter()
        self._send = send
        self._with_body = with_body
        self.begun = False

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            self._turn.end()
            self._count(message["status"])
            own = [(b"x-content-type-options", b"nosniff"), (b"x-request-id", REQUEST.get().encode())]
            headers = [*message.get("headers", []), *own]
            if not any(name.lower() == b"cache-control" for name, _ in headers):
                headers.append((b"cache-control", b"no-store"))
            message = {**message, "headers": headers}
        elif not self._with_body:
            message = {**message, "body": b""}
        await self._send(message)

    def _count(self, status: int) -> None:
        metrics, route = self._service.metrics, getattr(self._scope.get("route"), "path", "none")
        metrics.count(status)
        metrics.seconds.labels(route).observe(time.perf_counter() - self._since)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            LOG.warning("%s answered %d", route, status)


def _too_large(most: int) -> str:
    return f"the body has more than {most} bytes"
