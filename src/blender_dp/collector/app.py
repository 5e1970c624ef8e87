"""The HTTP service."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

import anyio.to_thread
from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, generate_latest

from blender_dp.collector import operator, public
from blender_dp.collector.documents import Signer
from blender_dp.collector.intake import Intake
from blender_dp.collector.keys import KeyFolder
from blender_dp.collector.problems import ProblemError, install, problem
from blender_dp.collector.rounds import Rounds
from blender_dp.collector.settings import Settings
from blender_dp.collector.store import Store
from blender_dp.collector.worker import Worker
from blender_dp.release.manifest import package_versions


class Service:
    """What the routes share."""

    def __init__(self, settings: Settings) -> None:
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.settings = settings
        self.signer = Signer.load(settings.signing_key)
        self.rounds = Rounds(Store.open(settings.database_url), KeyFolder(settings.key_folder), self.signer)
        self.intake = Intake(self.rounds)
        self.worker = Worker(self.rounds)
        self.registry = CollectorRegistry()
        self.taken = Counter("blender_dp_reports", "Reports stored, duplicates included", registry=self.registry)
        self.refused = Counter("blender_dp_refused", "Reports refused", ["reason"], registry=self.registry)
        self.answers = Counter("blender_dp_answers", "Answers by status", ["status"], registry=self.registry)
        self.waiting = Gauge("blender_dp_waiting", "Requests under way", registry=self.registry)
        self.under_way = 0

    def free_bytes(self) -> int:
        """How much room the disk has."""
        return shutil.disk_usage(self.settings.data).free

    def check_room(self) -> None:
        """Refuse to store anything when the disk is nearly full."""
        if self.free_bytes() < self.settings.min_free_bytes:
            raise ProblemError(HTTPStatus.INSUFFICIENT_STORAGE, "full", "the disk is nearly full; nothing was stored")


def create_app(settings: Settings) -> FastAPI:
    """The service for these settings. The tables must be there."""
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.worker.start()
        yield
        await anyio.to_thread.run_sync(service.worker.stop)
        await anyio.to_thread.run_sync(service.intake.stop)
        service.rounds.store.close()

    app = FastAPI(
        title="blender-dp collector",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
    )
    app.state.service = service
    install(app)
    app.include_router(public.router)
    app.include_router(operator.router)
    _operations(app, service)
    app.add_middleware(Limits, service=service)
    return app


class Limits:
    """Counts requests, and refuses what is too large or too much, before anything is read of it."""

    def __init__(self, app: object, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 (ASGI's)
        """Pass on what is within the limits."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)  # type: ignore[operator]
            return
        service, settings = self._service, self._service.settings
        refusal = None
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length) > settings.max_body_bytes:
            detail = f"the body has more than {settings.max_body_bytes} bytes"
            refusal = problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", detail)
        elif service.under_way >= settings.max_waiting:
            refusal = problem(HTTPStatus.TOO_MANY_REQUESTS, "busy", "too many requests at a time", {"Retry-After": "5"})
        received = 0

        async def limited():  # type: ignore[no-untyped-def]  # noqa: ANN202
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > settings.max_body_bytes:
                raise ProblemError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large", "the body is too large")
            return message

        async def counted(message):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            if message["type"] == "http.response.start":
                service.answers.labels(str(message["status"])).inc()
            await send(message)

        service.under_way += 1
        try:
            await (refusal or self._app)(scope, limited, counted)  # type: ignore[operator]
        finally:
            service.under_way -= 1


def _operations(app: FastAPI, service: Service) -> None:
    @app.get("/__lbheartbeat__", include_in_schema=False)
    async def _alive() -> dict[str, str]:
        return {}

    @app.get("/__heartbeat__", include_in_schema=False)
    def _well() -> dict[str, str]:
        service.rounds.current()
        service.check_room()
        return {"storage": "ok", "disk": "ok"}

    @app.get("/__version__", include_in_schema=False)
    async def _version() -> dict[str, str]:
        return package_versions()

    @app.get("/metrics", include_in_schema=False)
    async def _metrics(_: Request) -> Response:
        service.waiting.set(service.under_way)
        return Response(generate_latest(service.registry), media_type=CONTENT_TYPE_LATEST)
