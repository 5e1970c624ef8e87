"""Traces: sent to a real receiver, without anything that a client sent; off by default."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from blender_dp.collector.server.preparation import prepare
from blender_dp.collector.settings.settings import Settings
from blender_dp.errors import MissingExtraError
from tests.collector_http.conftest import listening

CANARY = "kanarienvogel"
ATTRIBUTES = {"http.request.method", "http.route", "http.response.status_code", "blender_dp.request_id"}


@contextmanager
def receiver() -> Iterator[tuple[str, list[bytes]]]:
    """A receiver that stores what an exporter sends."""
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", bodies
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_span_per_request_and_nothing_private_in_it(tmp_path: Path) -> None:
    marked = "4bf92f3577b34da6a3ce929d0e0e4736"
    # They stop in reverse order: the collector sends its last spans while the receiver still listens.
    with receiver() as (url, bodies), listening(tmp_path / "data", traces=url) as live, live.http(CANARY) as http:
        headers = {"traceparent": f"00-{marked}-00f067aa0ba902b7-01", "X-Forwarded-For": CANARY}
        http.get("/v1/ledger", params={"q": CANARY}, headers=headers)
        http.get(f"/v1/{CANARY}", headers=headers)
        refused = http.get(f"/v1/operator/rounds/{'a' * 32}", headers=headers)
        http.post("/v1/rounds/current", content=CANARY * 10_000)  # refused by the limits, before any route
    sent = b"".join(bodies)
    assert CANARY.encode() not in sent
    assert bytes.fromhex(marked) not in sent
    spans = [
        span
        for body in bodies
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert sorted(span.name for span in spans) == [
        "GET /v1/ledger",
        "GET /v1/operator/rounds/{round_id}",
        "GET unknown route",
        "POST unknown route",
    ]
    for span in spans:
        assert {one.key for one in span.attributes} == ATTRIBUTES
        assert not span.events
        assert not span.parent_span_id
    ids = {one.value.string_value for span in spans for one in span.attributes if one.key == "blender_dp.request_id"}
    assert refused.headers["x-request-id"] in ids


def test_an_unreachable_receiver_does_not_delay_requests(tmp_path: Path) -> None:
    with listening(tmp_path / "data", traces="http://127.0.0.1:1/v1/traces") as live:
        assert httpx.get(f"{live.url}/v1/ledger", timeout=120).status_code == 200


def test_tracing_is_not_loaded_by_default() -> None:
    names = "'opentelemetry.sdk', 'opentelemetry.exporter', 'blender_dp.collector.monitoring.tracing'"
    script = f"import sys, blender_dp.collector.http.app; print(any(name.startswith(({names})) for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_without_the_extra_nothing_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(MissingExtraError, match=r"blender-dp\[tracing\]"):
        prepare(Settings(data=tmp_path / "data", traces="http://127.0.0.1:4318/v1/traces"), lambda _: None)
    assert not (tmp_path / "data").exists()
