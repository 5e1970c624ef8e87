"""The HTTP application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio.to_thread
from fastapi import FastAPI

from blender_dp.collector.http import campaign_routes, contribution_routes, operator_routes, public_routes
from blender_dp.collector.http.home_page import add_home
from blender_dp.collector.http.join_page import add_join
from blender_dp.collector.http.limits import Limits
from blender_dp.collector.http.openapi import describe
from blender_dp.collector.http.operations_routes import add_operations
from blender_dp.collector.http.problems import install
from blender_dp.collector.http.service import Service
from blender_dp.collector.settings.settings import Settings


def create_app(settings: Settings) -> FastAPI:
    """The application for these settings. The tables must exist."""
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, Any]]:
        service.worker.start()
        yield {"limits": settings.connection_limits, "count": service.metrics.count}  # for the protocol of every connection
        await anyio.to_thread.run_sync(service.worker.stop)
        await anyio.to_thread.run_sync(service.report_writer.stop)
        service.rounds.store.close()
        await anyio.to_thread.run_sync(end_traces)

    app = bare_app(lifespan=lifespan)
    app.state.service = service
    add_operations(app, service)
    add_home(app, service)
    add_join(app)
    app.add_middleware(Limits, service=service)
    end_traces = _trace(app, settings.traces)
    return app


def _trace(app: FastAPI, url: str) -> Callable[[], None]:
    """Send a span for every request to this URL, if there is one; return a function that sends the last spans and stops."""
    if not url:
        return lambda: None
    from blender_dp.collector.monitoring.tracing import Tracing, sends_to  # noqa: PLC0415 (loaded only if used)

    provider = sends_to(url)
    app.add_middleware(Tracing, provider=provider)  # outermost, so that it also sees the requests that the limits refuse
    return provider.shutdown


def bare_app(**more: Any) -> FastAPI:  # noqa: ANN401 (FastAPI's own)
    """The routes and their description, without a service behind them."""
    app = FastAPI(
        title="blender-dp collector",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,  # `describe` adds it
        redirect_slashes=False,  # a redirect would repeat what was sent
        **more,
    )
    install(app)
    for router in (public_routes.router, campaign_routes.router, contribution_routes.router, operator_routes.router):
        app.include_router(router)
    describe(app)
    return app
