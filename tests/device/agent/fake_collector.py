"""A collector that signs documents with any content and sends any response."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from blender_dp.collector.secrets.signing import Signer
from blender_dp_device.digests import document_digest
from blender_dp_device.records.head_list import HeadList
from tests.collector_http.conftest import RECORDS
from tests.device.agent.http_server import Answer, Request
from tests.lists import reporting

PINNED = {"campaign": "c" * 32, "epsilon": "4", "delta": "1e-6", "lifetime_epsilon": "8", "least_seconds": 0}
KEY = base64.b64encode(bytes(32)).decode()


class FakeCollector:
    """A collector of which every response can be replaced; it signs with its own key."""

    def __init__(self, folder: Path) -> None:
        self.signer = Signer.load(folder / "signing-key.pem")
        self.head_list = reporting(HeadList.of(RECORDS), epsilon=4)
        self.state: dict[str, Any] = {"id": "1" * 32, "state": "listed", "opening": None, "head_list": None, "bundle": None}
        self.released: dict[str, Any] | None = None
        self.documents: dict[str, bytes] = {}
        self.posted: list[bytes] = []
        self.down = False
        self.receipt: str | None = None
        self.records: dict[str, bytes] = {}
        self.lost = False
        self.over: set[str] = set()
        self.requests: list[Request] = []
        self.refused: list[dict[str, object]] = []
        self.publish_list()
        self.publish_opening()

    def publish_opening(self, **changed) -> None:
        content = {
            "campaign": "c" * 32, "round": 1, "round_id": self.state["id"], "epsilon": "4", "delta": "1e-6",
            "expires": 1 << 40,
        } | changed  # fmt: skip
        self.state["opening"] = self.publish("opening", content)

    def publish_list(self, channel: object = None, **changed) -> None:
        document = self.head_list.to_document()
        if channel is not None:
            document["channel"] = {**document["channel"], **channel} if isinstance(channel, dict) else channel
        text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        content = {
            "campaign": "c" * 32, "round": 1, "round_id": self.state["id"], "head_list": document,
            "list_digest": hashlib.sha256(text.encode()).hexdigest(), "expires": 1 << 40,
        } | changed  # fmt: skip
        self.state["head_list"] = self.publish("head-list", content)

    def publish_bundle(self, number: int, campaign: str = "c" * 32) -> None:
        queries = [{"query": f"query {number}", "share": 0.5, "urls": [["https://a.example/", 0.5]]}]
        name = self.publish("bundle", {"campaign": campaign, "round": number, "queries": queries})
        self.released = {"id": "1" * 32, "state": "released", "head_list": None, "bundle": name}

    def publish(self, kind: str, content: dict[str, object]) -> str:
        body = self.signer.sign(kind, content)
        self.documents[document_digest(body)] = body
        return document_digest(body)

    def answer(self, request: Request) -> Answer | None:  # noqa: PLR0911
        self.requests.append(request)
        if self.down:
            return None
        if request.path == "/v1/rounds/current":
            return Answer(200, json={"key": "x", "round": self.state, "released": self.released})
        if request.method == "DELETE":
            taken = self.records.pop(request.path.rpartition("/")[2], None)
            return Answer(404 if taken is None else 204)
        if request.method == "POST":
            self.posted.append(request.content)
            if request.path.endswith("/records"):
                self.records[json.loads(request.content)["receipt"]] = request.content
            if self.lost:
                return None
            if request.path.split("/")[3] in self.over:
                return Answer(409, json={"detail": "the round is released; it takes no reports"})
            if request.path.endswith("/records"):
                receipt = self.receipt or json.loads(request.content)["receipt"]
                return Answer(201, json={"receipt": receipt})
            return Answer(200, json={"refused": self.refused})
        return Answer(200, content=self.documents[request.path.rpartition("/")[2]])


def next_round(fake: FakeCollector, number: int) -> None:
    """Open the round of this number in place of the one before."""
    fake.state = {**fake.state, "id": str(number) * 32}
    fake.publish_list(round=number)
