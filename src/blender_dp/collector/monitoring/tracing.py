"""OpenTelemetry traces, if the setting `traces` names a receiver. Without it, nothing here is imported.

The usual instrumentation records addresses, paths and query strings. A span here has the route's template, the method and
the status: nothing that a device chose. A trace context in a request is ignored, since it could mark a device.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from starlette.types import ASGIApp, Receive, Scope, Send

from blender_dp.collector.monitoring.log_lines import REQUEST


def sends_to(url: str) -> TracerProvider:
    """Send spans to a receiver that speaks OTLP over HTTP, in the background."""
    provider = TracerProvider(resource=Resource({SERVICE_NAME: "blender-dp-collector"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=url)))
    return provider


class Tracing:
    """One span per request."""

    def __init__(self, app: ASGIApp, provider: TracerProvider) -> None:
        self._app = app
        self._tracer = provider.get_tracer("blender_dp.collector")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, inside a span."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        span = self._tracer.start_span("request", Context(), SpanKind.SERVER)

        async def watched(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                _describe(span, scope, message["status"])
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            span.end()


def _describe(span: Span, scope: Scope, status: int) -> None:
    route = getattr(scope.get("route"), "path", "unknown route")
    span.update_name(f"{scope['method']} {route}")
    span.set_attributes(
        {
            "http.request.method": scope["method"],
            "http.route": route,
            "http.response.status_code": status,
            "blender_dp.request_id": REQUEST.get(),
        }
    )
    if status >= 500:
        span.set_status(Status(StatusCode.ERROR))
