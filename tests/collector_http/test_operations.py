"""What operators monitor: heartbeat, version, metrics and log lines."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from blender_dp.collector.http.round_watch import Watch
from blender_dp.collector.monitoring.log_lines import LOG, REQUEST, _Lines, about
from blender_dp.collector.monitoring.metrics import Metrics, add_up_ended, added_up
from blender_dp.collector.secrets import vault
from blender_dp.collector.storage.round_rows import Round
from tests.collector_http.conftest import listening
from tests.collector_http.warm_process import started

PROGRAM = Path(sys.executable).parent / "blender-dp"
CANARY = "kanarienvogel"


def value(metrics: str, name: str) -> float:
    return next(float(line.rpartition(" ")[2]) for line in metrics.splitlines() if line.startswith(f"{name} "))


def a_round(state: str) -> Round:
    facts: dict[str, Any] = dict.fromkeys(Round.__dataclass_fields__)
    return Round(**{**facts, "id": "a" * 32, "state": state})


def test_a_stuck_round_is_noticed() -> None:
    now = [0.0]
    watch = Watch(600, lambda: now[0])
    for state in ("open", "listing", "listed", "closed"):
        assert watch.see([a_round(state)]) == [("a" * 32, state)]
        now[0] += 601
        assert watch.see([a_round(state)]) == []
        problem = watch.problem()
        assert problem == (f"round {'a' * 32} has been {state} for 601 seconds" if state in {"listing", "closed"} else None)
        assert watch.numbers()[state] == (1, 601)  # type: ignore[index]
    watch.see([])
    assert watch.problem() is None
    watch.failures = 30
    assert watch.problem() == "the worker has failed 30 times in a row"


def test_the_heartbeat_says_which_round_is_stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(tmp_path / "data", stuck_seconds=0.5) as live, live.http(live.token) as http:
        assert http.get("/__heartbeat__").json() == {"storage": "ok", "disk": "ok", "rounds": "ok"}
        monkeypatch.setattr(live.service.rounds.lists, "make", lambda *_: time.sleep(0.05))
        campaign = live.campaign(min_opt_in=4)
        round_id = live.opened(campaign)
        for token in live.enrolled(campaign, 60):
            live.upload(round_id, token, "q", "https://q.example/")
        live.operator("POST", f"/v1/operator/rounds/{round_id}/list")
        answers = []
        for _ in range(100):
            answers.append(http.get("/__heartbeat__"))
            if answers[-1].status_code == 503:
                break
            time.sleep(0.1)
        assert answers[-1].json()["type"] == "urn:blender-dp:problem:stuck"
        assert round_id in answers[-1].json()["detail"]
        metrics = http.get("/metrics").text
        assert value(metrics, 'blender_dp_rounds{state="listing"}') == 1
        assert value(metrics, 'blender_dp_round_state_seconds{state="listing"}') > 0.5


def test_failures_of_the_worker_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise RuntimeError(CANARY)

    with listening(tmp_path / "data") as live, live.http(live.token) as http:
        monkeypatch.setattr(live.service.rounds.retention, "delete_reports", fail)
        for _ in range(40):
            live.service.worker.wake()
            time.sleep(0.05)
        assert value(http.get("/metrics").text, "blender_dp_worker_failures_total") > 0
        live.service.watch.failures = 30
        assert http.get("/__heartbeat__").json()["detail"].startswith("the worker has failed")


def test_the_version_has_dockerflows_form(tmp_path: Path) -> None:
    with listening(tmp_path / "data", source="https://git.example/blender-dp", commit="c0ffee", build="7") as live:
        found = httpx.get(f"{live.url}/__version__", timeout=120).json()
    assert (found["source"], found["commit"], found["build"]) == ("https://git.example/blender-dp", "c0ffee", "7")
    assert re.fullmatch(r"\d+\.\d+\.\d+", found["version"])
    assert found["version"] == found["packages"]["blender-dp"]


def test_metrics_of_one_process(tmp_path: Path) -> None:
    with listening(tmp_path / "data") as live, live.http(live.token) as http:
        for path in ("/v1/ledger", f"/v1/rounds/{'0' * 32}/{CANARY}", f"/{CANARY}", f"/v1/releases/{'0' * 64}"):
            http.get(path, params={"q": CANARY})
        metrics = http.get("/metrics").text
    assert value(metrics, 'blender_dp_request_seconds_count{route="/v1/ledger"}') == 1
    assert value(metrics, 'blender_dp_request_seconds_count{route="/v1/releases/{digest}"}') == 1
    assert value(metrics, 'blender_dp_request_seconds_count{route="none"}') >= 2
    assert value(metrics, "blender_dp_resident_bytes") > 10_000_000
    assert value(metrics, "blender_dp_open_files") > 5
    assert value(metrics, 'blender_dp_pool_connections{use="idle"}') >= 0
    assert CANARY not in metrics


def test_metrics_have_their_own_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They count uploads live, so they are not public; and they can be read while the database is down."""
    with listening(tmp_path / "data", metrics_token=vault.token_digest("scraper")) as live:
        statuses = {}
        for token in (None, "another", live.token, "scraper"):
            with live.http(token) as http:
                statuses[token] = http.get("/metrics").status_code, http.get("/v1/operator/campaigns").status_code
        assert statuses == {None: (401, 401), "another": (403, 403), live.token: (200, 200), "scraper": (200, 403)}
        monkeypatch.setattr(type(live.service.rounds.store), "read", None)
        with live.http("scraper") as http:
            assert http.get("/metrics").status_code == 200


def test_every_response_has_its_own_id(live) -> None:
    with live.http() as http:
        ids = [http.get(path, headers={"X-Request-Id": CANARY}).headers["x-request-id"] for path in ["/v1/ledger", "/x"] * 5]
    assert len(set(ids)) == 10
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in ids)


def test_a_failure_is_logged_with_its_request_and_its_round(live, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(_Lines(as_json=True).format(record))  # type: ignore[method-assign]
    LOG.addHandler(handler)

    def fail(*_: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(live.service.rounds.lookup, "round", fail)
    try:
        with live.http(live.token) as http:
            answer = http.get(f"/v1/operator/rounds/{'a' * 32}", params={CANARY: CANARY})
    finally:
        LOG.removeHandler(handler)
    assert answer.status_code == 500
    entries = [one for one in map(json.loads, lines) if one.get("request") == answer.headers["x-request-id"]]
    assert [one["message"] for one in entries] == [
        "unexpected: RuntimeError",
        "/v1/operator/rounds/{round_id}: response 500",
    ]
    assert {one["round"] for one in entries} == {"a" * 32}
    assert CANARY not in "".join(lines)


@pytest.mark.parametrize("as_json", [False, True])
def test_the_format_of_a_log_line(as_json: bool) -> None:
    failure = RuntimeError, RuntimeError(CANARY), None
    record = logging.LogRecord("x", logging.ERROR, "", 0, "two\nlines %s", ("told",), failure)
    token = REQUEST.set("0123")
    with about("f" * 32):
        line = _Lines(as_json=as_json).format(record)
    REQUEST.reset(token)
    assert "\n" not in line
    assert CANARY not in line
    when = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    if as_json:
        found = json.loads(line)
        assert (found["level"], found["request"], found["round"]) == ("ERROR", "0123", "f" * 32)
        assert found["error"] == "RuntimeError"
        assert re.fullmatch(when, found["time"])
    else:
        assert re.match(when + r" ERROR \[\d+\] two lines told request=0123 round=f{32} error=RuntimeError", line)


def children(process: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()]


def resident_bytes(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_metrics_of_several_processes_are_summed(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["serve", "--data", tmp_path / "data", "--port", str(port), "--workers", "2"]
    given = {**os.environ, "BLENDER_DP_MIN_FREE_BYTES": "0", "BLENDER_DP_LOG_FORMAT": "json"}
    given["BLENDER_DP_METRICS_TOKEN"] = vault.token_digest("scraper")
    url = f"http://127.0.0.1:{port}"
    with (tmp_path / "stderr").open("w") as stderr, started(words, given, stderr=stderr.fileno()) as one:
        try:
            for _ in range(600):
                try:
                    httpx.get(f"{url}/__heartbeat__", timeout=120).raise_for_status()
                    break
                except httpx.HTTPError:
                    time.sleep(0.1)
            time.sleep(2)  # until both have started, and have measured themselves
            for _ in range(40):
                httpx.get(f"{url}/v1/ledger", timeout=120)  # on its own connection: either process may respond
            for _ in range(6):  # whichever process responds
                metrics = httpx.get(f"{url}/metrics", headers={"Authorization": "Bearer scraper"}, timeout=120).text
                assert value(metrics, 'blender_dp_request_seconds_count{route="/v1/ledger"}') == 40
            largest = max(map(resident_bytes, children(one.pid)))
            assert value(metrics, "blender_dp_resident_bytes") > 1.5 * largest  # of both workers
            free_bytes = shutil.disk_usage(tmp_path).free
            assert value(metrics, "blender_dp_free_bytes") < 1.5 * free_bytes  # both see the same disk
        finally:
            one.send_signal(signal.SIGTERM)
            one.wait(60)
    for line in (tmp_path / "stderr").read_text().splitlines():
        assert {"time", "level", "message"} <= json.loads(line).keys()


def test_processes_that_have_ended_leave_their_counts_and_no_files(tmp_path: Path) -> None:
    """A worker that dies repeatedly must neither fill the disk nor decrease a counter."""
    count = (
        "from blender_dp.collector.monitoring.metrics import Metrics; "
        "m = Metrics(); m.count(200); m.seconds.labels('x').observe(1)"
    )
    with added_up():
        folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
        sizes = []
        for ended in range(1, 4):
            subprocess.run([sys.executable, "-c", count + "; m.waiting.set(5)"], check=True)
            metrics = Metrics().text().decode()  # before the supervisor has noticed it
            assert value(metrics, 'blender_dp_answers_total{status="200"}') == ended
            add_up_ended()
            sizes.append(len(list(folder.iterdir())))
        metrics = Metrics().text().decode()
        assert value(metrics, 'blender_dp_answers_total{status="200"}') == ended
        assert value(metrics, 'blender_dp_request_seconds_count{route="x"}') == ended
        assert "blender_dp_waiting" not in metrics
        assert sizes[0] == sizes[-1]
    assert not folder.exists()


def test_nothing_but_log_lines_is_in_the_log(tmp_path: Path) -> None:
    """Neither messages of libraries at exit, nor a line for every malformed request."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [PROGRAM, "serve", "--data", tmp_path / "data", "--port", str(port)]
    given = {**os.environ, "BLENDER_DP_MIN_FREE_BYTES": "0", "BLENDER_DP_LOG_FORMAT": "json"}
    with subprocess.Popen(command, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as one:
        try:
            for _ in range(600):
                try:
                    httpx.get(f"http://127.0.0.1:{port}/__heartbeat__", timeout=120).raise_for_status()
                    break
                except httpx.HTTPError:
                    time.sleep(0.1)
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"no HTTP\r\n\r\n")
                assert client.recv(100).startswith(b"HTTP/1.1 400 ")
        finally:
            one.send_signal(signal.SIGTERM)
            stderr = one.communicate(timeout=60)[1]
    assert stderr == ""
