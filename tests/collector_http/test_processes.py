"""Several processes with one database and one folder: every report is counted once, and there is one release."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from blender_dp.collector.secrets.signing import Signer
from blender_dp.collector.storage.schema import events, metadata, objects, reports, tokens
from blender_dp.collector.storage.store import Store
from tests.collector.places import Server
from tests.collector_http.conftest import RECORDS, Distant
from tests.collector_http.warm_process import ended, started

REPORTS, SENDERS = 600, 8


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def serving(data: Path, database: str, *flags: str) -> Iterator[tuple[str, list[str]]]:
    """`blender-dp serve` as a process: its address, and what it has printed when it is stopped."""
    port = free_port()
    words = ["serve", "--data", data, "--port", str(port), *flags]
    words += ["--database", database] if database else []
    printed: list[str] = []
    with started(words, {**os.environ, "BLENDER_DP_MIN_FREE_BYTES": "0"}, stderr=subprocess.STDOUT) as one:

        def read() -> None:
            printed.extend(one.stdout or ())

        reader = threading.Thread(target=read)
        reader.start()
        try:
            yield f"http://127.0.0.1:{port}", printed
        finally:
            one.terminate()
            one.wait(120)
            reader.join()


def wait_until_up(url: str) -> None:
    for _ in range(600):
        try:
            if httpx.get(f"{url}/__heartbeat__", timeout=120).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise TimeoutError(url)


def token_in(printed: list[str]) -> list[str]:
    return [line.rpartition("=")[2].strip() for line in printed if "BLENDER_DP_TOKEN=" in line]


def rows(database: str, statement: Any) -> list[Any]:
    store = Store.open(database)
    with store.read() as connection:
        found = list(connection.execute(statement).all())
    store.close()
    return found


@pytest.mark.parametrize("doors", [1, 2], ids=["one port, two workers", "two ports"])
def test_a_round_through_several_processes(empty_database: Callable[[], str], tmp_path: Path, doors: int) -> None:
    data, url = tmp_path / "data", empty_database()
    with ExitStack() as stack:
        flags = ["--workers", "2"] if doors == 1 else []
        started = [stack.enter_context(serving(data, url, *flags)) for _ in range(doors)]  # at once, on an empty database
        kept = url or str(data / "collector.db")
        urls = [address for address, _ in started]
        for door in urls:
            wait_until_up(door)
        found = token_in([line for _, printed in started for line in printed])
        assert len(found) == 1  # the first one has created it
        one, other = Distant(urls[0], found[0]), Distant(urls[-1], found[0])
        assert {httpx.get(f"{door}/v1/rounds/current", timeout=120).json()["key"] for door in urls} == {
            Signer.load(data / "signing-key.pem").public
        }

        campaign = one.campaign()
        round_id = other.opened(campaign)
        with one.http() as first, other.http() as second:
            for i, token in enumerate(one.enrolled(campaign, 120)):
                query, site = RECORDS[i % len(RECORDS)]
                answer = (first, second)[i % 2].post(
                    f"/v1/rounds/{round_id}/records",
                    json={"query": query, "url": site},
                    headers={"Authorization": f"Bearer {token}"},
                )
                assert answer.status_code == 201
        asked = both(lambda door: ask(door, f"/v1/operator/rounds/{round_id}/list"), one, other)
        assert 202 in asked  # the second one may find that it is done
        listed = other.reached(round_id, "listed")

        send_everything_from_everywhere(one, other, listed)
        assert len(rows(kept, sa.select(reports.c.id))) == REPORTS
        assert 202 in both(lambda door: ask(door, f"/v1/operator/rounds/{round_id}/close"), one, other)
        done = one.reached(round_id, "released")

        assert (
            httpx.get(f"{urls[0]}/v1/rounds/current", timeout=120).json()["released"]
            == done
            == other.reached(round_id, "released")
        )
        bodies = {httpx.get(f"{door}/v1/releases/{done['release']}", timeout=120).content for door in urls * 4}
        assert len(bodies) == 1
        release = httpx.get(f"{urls[0]}/v1/releases/{done['release']}", timeout=120).json()["content"]["release"]
        assert release["manifest"]["reports"] == REPORTS
        entries = httpx.get(f"{urls[-1]}/v1/ledger", timeout=120).json()
        assert [entry["group"] for entry in entries] == ["opt-in", "client"]
    whats = [row.what for row in rows(kept, sa.select(events.c.what).order_by(events.c.number))]
    assert whats == ["opened", "frozen", "listed", "closed", "released"]
    assert sorted(row.kind for row in rows(kept, sa.select(objects.c.kind))) == ["bundle", "head-list", "opening", "release"]
    assert list((data / "round-keys").glob("*.key")) == []
    for _, printed in started:
        assert not [line for line in printed if "Traceback" in line or "Error" in line]


def both(work: Any, *doors: Distant) -> list[Any]:
    """Do it on every port at the same time."""
    with ThreadPoolExecutor(len(doors)) as pool:
        return list(pool.map(work, doors))


def ask(door: Distant, path: str) -> int:
    with door.http(door.token) as http:
        return http.post(path).status_code


def send_everything_from_everywhere(one: Distant, other: Distant, listed: dict[str, Any]) -> None:
    """All senders send all reports to both ports, in different orders and batches: each report arrives eight times."""
    messages = one.messages(listed, REPORTS)

    def send(sender: int) -> None:
        door, portion = (one, other)[sender % 2], 20 + 15 * sender
        ordered = messages[:: 1 - 2 * (sender // 2 % 2)]
        with door.http() as http:
            for start in range(0, REPORTS, portion):
                path, part = f"/v1/rounds/{listed['id']}/reports", ordered[start : start + portion]
                assert http.post(path, json={"reports": part}).json() == {"refused": []}

    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(send, range(SENDERS)))


def test_migrate_only(server: Server, tmp_path: Path) -> None:
    """It only creates the tables, however often it is called, on both databases."""
    for database in ("", server.url(server.create())):
        data = tmp_path / f"data{bool(database)}"
        flags = ["--database", database] if database else []
        for _ in range(2):
            done = ended(["serve", "--data", data, "--migrate-only", *flags], os.environ)
            assert (done.returncode, done.stderr) == (0, "")
            assert "up to date" in done.stdout
            assert "TOKEN" not in done.stdout
        where = database or str(data / "collector.db")
        assert rows(where, sa.select(tokens)) == []
        store = Store.open(where)
        assert {*sa.inspect(store.engine).get_table_names()} == {*metadata.tables, "alembic_version"}
        store.close()
        assert not (data / "signing-key.pem").exists()


def test_concurrent_starts_create_one_signing_key(tmp_path: Path) -> None:
    path = tmp_path / "data/signing-key.pem"
    for _ in range(20):
        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(lambda _: Signer.load(path).public, range(8)))) == 1
        assert [one.name for one in path.parent.iterdir()] == [path.name]
        path.unlink()
