"""Real collectors for tests in browsers: a line of input calls a method of one of them, a line of output is the result.

All of them run in one process: a new one would import for seconds, at its start and in its first round.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from blender_dp.collector.rounds.transitions import publish
from blender_dp.collector.storage import round_rows
from blender_dp.collector.storage.schema import reports
from blender_dp.invitation import Invitation
from blender_dp.release import Release, document
from blender_dp_device.agent.agent import Agent
from blender_dp_device.agent.client import CollectorClient
from blender_dp_device.digests import document_digest
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.records.reporting_list import ReportingList
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


def lengthened(live: Live, round_id: str, length: int) -> list[str]:
    """Let a released round have this many queries, in a release that the collector signs; return them by popularity."""
    service, one = live.service, live.service.rounds.lookup.round(round_id)
    release = longer(service.facts.release(one.release), length)
    content = {**service.documents.content(one.release, "release"), "release": json.loads(document.dump(release))}
    queries = [asdict(row) for row in release.search("", length)]
    named = {"campaign": one.campaign, "round": one.number}
    signed = {"release": service.signer.sign("release", content)}
    signed["bundle"] = service.signer.sign("bundle", {**named, "queries": queries})
    with service.rounds.store.write("release") as transaction:
        for kind, body in signed.items():
            publish(transaction, kind, body)
        round_rows.advance(transaction, round_id, "released", {kind: document_digest(body) for kind, body in signed.items()})
    return [row["query"] for row in queries]


def longer(release: Release, length: int) -> Release:
    """A release with this many queries, whose shares fall."""
    names = [f"query {rank}" for rank in range(1, length + 1)]
    head_list = HeadList.of((name, "https://site.example/") for name in names)
    listed = ReportingList(head_list, release.reporting_list.channel)
    shares = {name: 1 / (12 * rank) for rank, name in enumerate(names, 1)}

    def row(like: Any, query: str | None, **more: Any) -> Any:
        share = shares.get(query, 0.01)
        return replace(like, query=query, share=share, low=0.9 * share, high=1.1 * share, **more)

    queries = tuple(row(release.queries[0], name) for name in (*head_list.queries, None))
    records = tuple(row(release.records[0], query, url=url) for query, url in head_list.cells())
    return replace(
        release,
        manifest=replace(release.manifest, head_list=listed.digest),
        reporting_list=listed,
        queries=queries,
        records=records,
    )


CALLS = {one.__name__: one for one in (lengthened, close, stored, invitation, take_part, uploads, others)}


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


class Collectors:
    """Collectors by their numbers."""

    def __init__(self) -> None:
        self._running: list[tuple[ExitStack, Live]] = []

    def start(self, name: str) -> dict[str, Any]:
        """Start a collector on this database in a folder of its own."""
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            live = stack.enter_context(listening(Path(folder) / "data", **stack.enter_context(database(name))))
            self._running.append((stack.pop_all(), live))
        number = len(self._running) - 1
        return {"number": number, "url": live.url, "key": live.service.signer.public, "token": live.token}

    def stop(self, number: int) -> None:
        """Stop a collector; one that has stopped stays so."""
        self._running[number][0].close()

    def call(self, number: int, name: str, values: list[Any], named: dict[str, Any]) -> Any:
        """Call a method of a collector."""
        return call(self._running[number][1], name, *values, **named)

    def close(self) -> None:
        """Stop all of them."""
        for number in range(len(self._running)):
            self.stop(number)


def main() -> None:
    collectors = Collectors()
    try:
        for line in sys.stdin:
            name, *values = json.loads(line)
            print(json.dumps(getattr(collectors, name)(*values)), flush=True)
    finally:
        collectors.close()


if __name__ == "__main__":
    main()
