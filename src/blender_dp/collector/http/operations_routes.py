"""Routes for running the collector: heartbeats, the version and the metrics."""

from __future__ import annotations

from http import HTTPStatus
from importlib.metadata import version
from typing import Any

import anyio.to_thread
from fastapi import Depends, FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from blender_dp.collector.http.dependencies import BearerToken
from blender_dp.collector.http.health_check import HealthCheck
from blender_dp.collector.http.operator_routes import is_operator
from blender_dp.collector.http.problems import ProblemError
from blender_dp.collector.http.service import Service, service_of
from blender_dp.collector.secrets import vault
from blender_dp.release.manifest import package_versions

PREFIXES = ("/__", "/metrics")
"""These paths respond however many requests are under way."""


def add_operations(app: FastAPI, service: Service) -> None:
    """Add the routes; /__version__, /__heartbeat__ and /__lbheartbeat__ are those of Dockerflow."""

    @app.get("/__lbheartbeat__", include_in_schema=False)
    async def _alive() -> dict[str, str]:
        return {}

    def check() -> dict[str, str]:
        service.see_rounds()
        service.check_room()
        if problem := service.watch.problem():
            raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "stuck", problem)
        return {"storage": "ok", "disk": "ok", "rounds": "ok"}

    health = HealthCheck(check)
    settings = service.settings
    known = {  # read once: looking up the packages takes as long as ten other requests
        "source": settings.source, "version": version("blender-dp"), "commit": settings.commit,
        "build": settings.build, "packages": package_versions(),
    }  # fmt: skip

    @app.get("/__heartbeat__", include_in_schema=False)
    async def _well() -> dict[str, str]:
        return await health()

    @app.get("/__version__", include_in_schema=False)
    async def _version() -> dict[str, Any]:
        return known

    @app.get("/metrics", include_in_schema=False, dependencies=[Depends(_may_measure)])
    async def _metrics() -> Response:
        service.measure()
        return Response(await anyio.to_thread.run_sync(service.metrics.text), media_type=CONTENT_TYPE_LATEST)


def _may_measure(request: Request, token: BearerToken) -> None:
    """Allow the metrics token, which needs no database, or the operator's. Metrics count users live: they are not public."""
    service = service_of(request)
    if not vault.same(vault.token_digest(token), service.settings.metrics_token) and not is_operator(service, token):
        raise ProblemError(HTTPStatus.FORBIDDEN, "forbidden", "this token may not read the metrics")
