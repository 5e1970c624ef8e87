"""A real collector for tests in browsers: a line of input calls one of its methods, a line of output is the result."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from blender_dp.cli.invitation import Invitation
from blender_dp.collector.storage.schema import reports
from blender_dp_device.agent.agent import Agent
from blender_dp_device.agent.client import CollectorClient
from tests.collector.places import Server
from tests.collector_http.conftest import RECORDS, Live, listening


def close(live: Live, round_id: str) -> dict[str, Any]:
    """Close a round, and return what was released."""
    live.operator("POST", f"/v1/operator/rounds/{round_id}/close")
    released = live.reached(round_id, "released")
    with live.http() as http:
        return http.get(f"/v1/releases/{released['release']}").json()["content"]["release"]


def stored(live: Live) -> int:
    """The number of reports in the database."""
    with live.service.rounds.store.read() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(reports))


def invitation(live: Live, campaign: str) -> str:
    """The link that invites devices to a campaign."""
    limits = {"epsilon": 4, "delta": "1e-6", "lifetime_epsilon": 8}
    return Invitation.of(
        collector=live.url, key=live.service.signer.public, campaign=campaign, name="searches", **limits
    ).link


def take_part(live: Live, campaign: str, count: int, query: str, url: str) -> int:
    """Let Python devices report, each with its own account, and return how many reports have arrived."""
    collector, pinned = CollectorClient(live.url), {"key": live.service.signer.public, "campaign": campaign}
    devices = [Agent(live.data / f"{i}", collector, **pinned, epsilon=4, lifetime_epsilon=4) for i in range(count)]
    arrived = sum(device.take_part(query, url).arrived for device in devices)
    collector.close()
    return arrived


def uploads(live: Live, round_id: str, campaign: str, count: int) -> None:
    """Let opt-in users upload to an open round."""
    for token, record in zip(live.enrolled(campaign, count), cycle(RECORDS), strict=False):
        live.upload(round_id, token, *record)


def others(live: Live, listed: dict[str, Any], count: int) -> None:
    """Let other devices report."""
    with live.http() as http:
        http.post(f"/v1/rounds/{listed['id']}/reports", json={"reports": live.messages(listed, count)}).raise_for_status()


CALLS = {one.__name__: one for one in (close, stored, invitation, take_part, uploads, others)}


def call(live: Live, name: str, /, *values: Any, **named: Any) -> Any:
    """Call one of the functions above, or a method of the collector."""
    return CALLS[name](live, *values) if name in CALLS else getattr(live, name)(*values, **named)


@contextmanager
def database(name: str) -> Iterator[dict[str, str]]:
    """The settings of a collector on SQLite, or on a PostgreSQL server of its own."""
    if name == "sqlite":
        yield {}
        return
    server = Server(synced=False)
    yield {"database": server.url(server.create())}
    server.remove()


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        database(sys.argv[1] if len(sys.argv) > 1 else "sqlite") as chosen,
        listening(Path(folder) / "data", **chosen) as live,
    ):
        print(json.dumps({"url": live.url, "key": live.service.signer.public, "token": live.token}), flush=True)
        for line in sys.stdin:
            name, values, named = json.loads(line)
            print(json.dumps(call(live, name, *values, **named)), flush=True)


if __name__ == "__main__":
    main()
