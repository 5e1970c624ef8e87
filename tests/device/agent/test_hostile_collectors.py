"""The table of hostile collectors in `spec/`, which every client must replay."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from blender_dp_device.agent.agent import Agent
from blender_dp_device.agent.client import CollectorClient
from blender_dp_device.errors import BlenderError
from tests.conftest import ROOT

pytestmark = pytest.mark.slow  # several hundred cases over real sockets

TABLE = json.loads((ROOT / "spec/hostile_collectors.json").read_text(encoding="utf-8"))
RECORD = TABLE["record"]
ACTS: dict[str, Callable[[Agent], Any]] = {
    "report": lambda device: device.take_part(RECORD["query"], RECORD["url"]),
    "upload": lambda device: device.upload(RECORD["token"], RECORD["query"], RECORD["url"]),
    "refresh bundle": lambda device: device.refresh_bundle() or True,
}
KINDS = {"openings": "opening", "head-lists": "head-list", "bundles": "bundle", "reports": "report", "records": "upload"}


class Collector(ThreadingHTTPServer):
    """Responds as the current step says."""

    daemon_threads = True
    step: dict[str, Any]
    requests: list[str]
    posted: list[bytes]

    def response(self, kind: str, name: str, body: bytes) -> dict[str, Any]:
        if kind == "current":
            return self.step.get("current") or {"body": TABLE["usual"][self.step["act"]]}
        if kind in {"report", "upload"}:
            usual = {"refused": []} if kind == "report" else {"receipt": json.loads(body)["receipt"]}
            return self.step.get("answer") or {"body": json.dumps(usual)}
        document = {**TABLE["documents"], **self.step.get("documents", {})}[name]
        return {"body": document} if isinstance(document, str) else document

    def handle_error(self, *_: object) -> None:
        pass  # the client hung up


class Handler(BaseHTTPRequestHandler):
    """Sends a response of the table, byte by byte."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Collector

    def respond(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = self.path.partition("?")[0].split("/")
        kind = "current" if parts[-1] == "current" else KINDS.get(parts[-1] if content else parts[2], self.path)
        self.server.requests.append(kind)
        self.server.posted += [content] if content else []
        self.close_connection = True  # so that a case cannot disturb the next one
        response = self.server.response(kind, parts[-1], content)
        if not response.get("close"):
            self.send(response)

    def send(self, response: dict[str, Any]) -> None:
        text, count = response.get("repeat", (response.get("body", ""), 1))
        body = base64.b64decode(response["base64"]) if "base64" in response else text.encode() * count
        self.send_response_only(response.get("status", 200))
        for name, value in response.get("headers", {}).items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        if "endless" not in response:
            self.send_header("Content-Length", str(response.get("length", len(body))))
        self.end_headers()
        self.wfile.write(body)
        while "endless" in response:
            self.wfile.write(response["endless"].encode())
            time.sleep(0.05)

    do_GET = do_POST = respond  # noqa: N815 (the names that the base class looks for)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with Collector(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("case", TABLE["cases"], ids=[case["name"] for case in TABLE["cases"]])
def test_a_case(case: dict[str, Any], collector: Collector, tmp_path: Path) -> None:
    posted: list[bytes] = []
    for step in case["steps"]:
        seconds = 1 if '"endless"' in json.dumps(step) else 30
        client = CollectorClient(f"http://127.0.0.1:{collector.server_port}", seconds=seconds)
        device = Agent(tmp_path / "device", client, **TABLE["pinned"], clock=lambda: TABLE["now"])
        collector.step, collector.requests, collector.posted = step, [], []
        try:
            result = "done" if ACTS[step["act"]](device) else "nothing"
        except BlenderError:
            result = "refused"
        assert (result, collector.requests, str(device.spent)) == (step["result"], step["requests"], step["spent"])
        posted += collector.posted
        client.close()
    if case["steps"][0]["act"] == case["steps"][-1]["act"] == "report":
        assert len(set(posted)) <= 1  # identical bytes on retry
