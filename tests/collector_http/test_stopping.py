"""A collector that is stopped drops no request, and its workers stop if their supervisor is killed."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from blender_dp.collector.server.shutdown_response import turned_away
from tests.collector_http.conftest import listening
from tests.collector_http.warm_process import Warm, started

HANG = 120
IDLE = 0.8  # a little less than the second after which a collector that stops closes idle connections


@contextmanager
def serving(data: Path, workers: int) -> Iterator[tuple[Warm, str]]:
    words = ["serve", "--data", data, "--port", "0", "--workers", str(workers)]
    with started(words, {**os.environ, "BLENDER_DP_MIN_FREE_BYTES": "0", "TMPDIR": str(data.parent)}) as one:
        try:
            (url,) = re.findall(r"listens on (http://[\w.:]+[0-9]),", "".join(one.stdout.readline() for _ in range(3)))
            for _ in range(2 * workers):
                assert httpx.get(f"{url}/__heartbeat__", timeout=HANG).is_success
            yield one, url
        finally:
            one.kill()


@pytest.mark.parametrize("workers", [1, 2])
def test_every_request_that_was_sent_gets_a_response(tmp_path: Path, workers: int) -> None:
    """New connections, kept-alive connections, and a body in transit: none of them is reset."""
    with serving(tmp_path / "data", workers) as (one, url):
        seen: Counter[str] = Counter()
        over = threading.Event()

        def ask(kept: bool) -> None:
            with httpx.Client(base_url=url, timeout=HANG) as client:
                last = time.monotonic()
                while not over.is_set():
                    try:
                        answer = client.get("/v1/ledger") if kept else httpx.get(f"{url}/v1/ledger", timeout=HANG)
                        seen[str(answer.status_code)] += 1
                    except httpx.ConnectError:  # it is gone
                        return
                    except httpx.HTTPError as error:
                        # HTTP/1.1 cannot prevent that an idle connection is closed while its client sends another request
                        idle = kept and time.monotonic() - last > IDLE
                        seen["closed while idle" if idle else type(error).__name__] += 1
                        return
                    last = time.monotonic()

        threads = [threading.Thread(target=ask, args=(kept,)) for kept in (False, True) * 4]
        for thread in threads:
            thread.start()
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=HANG) as slow:
            head = f"POST /v1/rounds/{'0' * 32}/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            slow.sendall(f"{head}Content-Length: 14\r\n\r\n".encode())
            while seen["200"] < 50:
                assert all(thread.is_alive() for thread in threads), seen
                time.sleep(0.05)
            one.send_signal(signal.SIGTERM)
            time.sleep(2)
            slow.sendall(b'{"reports":[]}')
            assert b"HTTP/1.1 " in slow.recv(1000)
        assert one.wait(HANG) in (0, -signal.SIGTERM)
        over.set()
        for thread in threads:
            thread.join()
    assert set(seen) <= {"200", "503", "closed while idle"}, seen


def test_clients_that_never_stop_connecting_do_not_keep_it_running() -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    address, over, responses = listener.getsockname(), threading.Event(), Counter[bytes]()

    def connect() -> None:
        with suppress(ConnectionRefusedError):
            while not over.is_set():
                with socket.create_connection(address, timeout=HANG) as client:
                    responses[client.recv(12)] += 1

    def stop() -> None:
        with turned_away(listener, lambda: True):
            while responses.total() < 50:
                time.sleep(0.01)

    clients = [threading.Thread(target=connect) for _ in range(4)]
    stopping = threading.Thread(target=stop)
    for thread in (*clients, stopping):
        thread.start()
    stopping.join(HANG)
    stopped = not stopping.is_alive()
    over.set()
    for thread in (*clients, stopping):
        thread.join()
    assert stopped
    assert set(responses) == {b"HTTP/1.1 503"}


class SlowlyClosed(socket.socket):
    """Leaves clients time to connect between the last look into the queue and the closing."""

    def close(self) -> None:
        time.sleep(0.2)
        super().close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs the packet filter of Linux")
def test_no_connection_is_reset_when_the_socket_is_closed() -> None:
    outcomes = Counter[str]()

    def connect(address: tuple[str, int]) -> None:
        with suppress(ConnectionRefusedError):
            while True:
                with socket.create_connection(address, timeout=HANG) as client:
                    try:
                        outcomes[client.recv(12).decode()] += 1
                    except ConnectionResetError:
                        outcomes["reset"] += 1

    listener = SlowlyClosed()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    clients = [threading.Thread(target=connect, args=(listener.getsockname(),)) for _ in range(4)]
    with turned_away(listener, lambda: True):
        for thread in clients:
            thread.start()
        while not outcomes:
            time.sleep(0.01)
    for thread in clients:
        thread.join()
    assert set(outcomes) == {"HTTP/1.1 503"}, outcomes


@pytest.mark.skipif(sys.platform != "linux", reason="looks for children in /proc")
def test_workers_end_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path / "data", 2) as (one, url):
        children = Path(f"/proc/{one.pid}/task/{one.pid}/children").read_text(encoding="ascii").split()
        assert len(children) >= 2
        one.kill()
        one.wait(HANG)
        end = time.monotonic() + HANG
        while any(is_running(child) for child in children):
            assert time.monotonic() < end, "a worker goes on without its supervisor"
            time.sleep(0.1)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/__lbheartbeat__")
    assert not list(tmp_path.glob("blender-dp-metrics-*"))


def is_running(pid: str) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks for children in /proc")
def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    with serving(tmp_path / "data", 2) as (one, url):
        children = Path(f"/proc/{one.pid}/task/{one.pid}/children")
        before = children.read_text(encoding="ascii").split()
        for child in before:
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(int(child), signal.SIGKILL)
        end = time.monotonic() + HANG
        while len(set(children.read_text(encoding="ascii").split()) - set(before)) < 2:
            assert time.monotonic() < end, "nobody replaces it"
            time.sleep(0.1)
        assert httpx.get(f"{url}/__heartbeat__", timeout=HANG).is_success
        one.send_signal(signal.SIGTERM)
        assert one.wait(HANG) == 0


@pytest.mark.parametrize("step", ["list", "close"])
def test_a_step_that_loses_to_an_abort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    with listening(tmp_path / "data") as live:
        campaign = live.campaign()
        round_id = live.opened(campaign) if step == "list" else live.listed(campaign)["id"]
        lifecycle, name = live.service.rounds.lifecycle, {"list": "freeze", "close": "close"}[step]
        real = getattr(lifecycle, name)

        def aborted_first(one: str) -> None:
            lifecycle.abort(one, "enough")
            real(one)

        monkeypatch.setattr(lifecycle, name, aborted_first)
        with live.http(live.token) as http:
            answer = http.post(f"/v1/operator/rounds/{round_id}/{step}")
        assert (answer.status_code, answer.json().get("detail")) == (409, "the round is aborted")
