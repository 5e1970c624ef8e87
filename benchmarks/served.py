"""A collector started by `blender-dp serve` in another process, with a round that accepts reports."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from blender_dp.collector.secrets.vault import new_token, token_digest
from blender_dp_device.channel import Device
from blender_dp_device.records.reporting_list import ReportingList

USERS = 2_000
QUERIES = 50


@dataclass(frozen=True)
class Served:
    """A running collector."""

    port: int
    token: str
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def operator(self, method: str, path: str, message: Any = None) -> Any:  # noqa: ANN401 (JSON)
        headers = {"Authorization": f"Bearer {self.token}"}
        response = httpx.request(method, self.url + path, json=message, headers=headers, timeout=600)
        response.raise_for_status()
        return response.json()

    def listed(self, name: str) -> Listed:
        """Create a campaign whose first round accepts reports."""
        message = {
            "name": name, "epsilon": "4", "delta": "1e-5", "max_queries": QUERIES,
            "min_opt_in": USERS // 2, "min_reports": 2, "max_epsilon": "unlimited",
        }  # fmt: skip
        return self.listed_again(self.operator("POST", "/v1/operator/campaigns", message)["id"])

    def listed_again(self, campaign: str) -> Listed:
        """Open the next round of a campaign, and make its list."""
        round_id = self.operator("POST", f"/v1/operator/campaigns/{campaign}/rounds", {})["id"]
        tokens = self.operator("POST", f"/v1/operator/campaigns/{campaign}/enrolments", {"count": USERS})["tokens"]
        with httpx.Client(base_url=self.url) as http:
            for i, token in enumerate(tokens):
                record = {"query": f"query {i % QUERIES}", "url": f"https://site{i % QUERIES}.example/"}
                headers = {"Authorization": f"Bearer {token}"}
                http.post(f"/v1/rounds/{round_id}/records", json=record, headers=headers).raise_for_status()
        self.operator("POST", f"/v1/operator/rounds/{round_id}/list")
        status = self.reached(round_id, "listed")
        content = httpx.get(f"{self.url}/v1/head-lists/{status['head_list']}").json()["content"]
        return Listed(campaign, round_id, status["head_list"], content)

    def released(self, listed: Listed) -> None:
        """Report for every user and publish the round."""
        reports = [
            {"id": os.urandom(16).hex(), "head_list": listed.head_list, "cells": cells} for cells in listed.cells(USERS)
        ]
        httpx.post(f"{self.url}/v1/rounds/{listed.id}/reports", json={"reports": reports}).raise_for_status()
        self.operator("POST", f"/v1/operator/rounds/{listed.id}/close")
        self.reached(listed.id, "released")

    def reached(self, round_id: str, state: str) -> dict[str, Any]:
        """Wait until a round has this state."""
        while True:
            status: dict[str, Any] = self.operator("GET", f"/v1/operator/rounds/{round_id}")
            if status["state"] == state:
                return status
            if status["problem"]:
                raise SystemExit(status["problem"])
            time.sleep(0.05)

    @property
    def peak_bytes(self) -> int:
        """The peak memory of the server."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


@dataclass(frozen=True)
class Listed:
    """A round that accepts reports."""

    campaign: str
    id: str
    head_list: str
    content: dict[str, Any]

    @property
    def device(self) -> Device:
        return Device(ReportingList.from_document(self.content["head_list"]), epsilon="4")

    def cells(self, count: int) -> list[list[int]]:
        """The reports of this many clients, really randomised."""
        device = self.device
        return [
            list(device.report(f"query {i % QUERIES}", f"https://site{i % QUERIES}.example/").cells) for i in range(count)
        ]


@contextmanager
def served(data: Path, database: str = "") -> Iterator[Served]:
    """Start a collector, and stop it at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).parent / "blender-dp"), "serve", "--data", str(data), "--port", str(port)]
    command += ["--database", database] if database else []
    token = new_token()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BLENDER_DP_")}
    environment["BLENDER_DP_OPERATOR_TOKEN"] = token_digest(token)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        for _ in range(600):
            try:
                httpx.get(f"http://127.0.0.1:{port}/__lbheartbeat__").raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.05)
        yield Served(port, token, process)
    finally:
        process.terminate()
        process.wait(60)
