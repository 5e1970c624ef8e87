"""Bodies that try to fill the memory or to keep the collector busy."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from blender_dp.collector.http import contribution_routes
from blender_dp.collector.http.report_body import read_reports
from tests.collector_http.conftest import listening
from tests.collector_http.hostile import HOSTILE, MOST_BYTES, Serving, serving

MOST_GROWTH = 64_000_000
HANG_SECONDS = 2.0  # a hang, not a measurement: `make bench-collector` holds it to 0.1 s
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("hostile") / "data") as one:
        for _ in range(3):  # what is loaded once does not count as growth
            httpx.post(f"{one.url}/v1/rounds/{'0' * 32}/reports", content=b"{}", headers=JSON, timeout=120)
        assert one.at_first > 0
        yield one


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_body_costs_little(served: Serving, name: str) -> None:
    body = HOSTILE[name]()
    assert len(body) <= MOST_BYTES
    served.forget_peak()
    slowest, done = [0.0], threading.Event()

    def poll() -> None:
        with httpx.Client(base_url=served.url, timeout=60) as http:
            while not done.is_set():
                start = time.perf_counter()
                http.get("/__lbheartbeat__").raise_for_status()
                slowest[0] = max(slowest[0], time.perf_counter() - start)
                time.sleep(0.01)

    polling = threading.Thread(target=poll)
    polling.start()
    try:
        answer = httpx.post(f"{served.url}/v1/rounds/{'0' * 32}/reports", content=body, headers=JSON, timeout=60)
    finally:
        done.set()
        polling.join()
    assert answer.status_code in {400, 404, 413, 422}
    assert len(answer.content) < 4_000
    assert served.memory("VmHWM") - served.at_first < MOST_GROWTH
    assert slowest[0] < HANG_SECONDS


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"/v1/rounds/{'0' * 32}/records"),
        ("POST", "/v1/operator/campaigns"),
        ("POST", f"/v1/operator/campaigns/{'0' * 32}/enrolments"),
        ("POST", f"/v1/operator/rounds/{'0' * 32}/abort"),
        ("GET", "/v1/ledger"),
    ],
)
def test_only_reports_may_be_long(served: Serving, method: str, path: str) -> None:
    headers = {**JSON, "Authorization": f"Bearer {'0' * 64}"}
    for body in (HOSTILE["many fields"](), b" " * 70_000):
        answer = httpx.request(method, served.url + path, content=body, headers=headers, timeout=120)
        assert (answer.status_code, answer.json()["type"]) == (413, "urn:blender-dp:problem:too-large")


def test_long_bodies_are_read_outside_the_event_loop(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A single one of them would otherwise delay every other request."""
    threads: list[str] = []

    def watched(*given: object) -> object:
        threads.append(threading.current_thread().name)
        return read_reports(*given)

    monkeypatch.setattr(contribution_routes, "read_reports", watched)
    with listening(tmp_path / "data") as live, live.http() as http:
        for body in (b'{"reports": [1]}', HOSTILE["invalid cells"]()):
            assert http.post(f"/v1/rounds/{'0' * 32}/reports", content=body, headers=JSON).status_code == 422
    assert ["AnyIO worker" in name for name in threads] == [False, True]


def test_a_source_pays_before_its_reports_are_read(tmp_path) -> None:
    with listening(tmp_path / "data", reports_per_minute=1_500) as live, live.http() as http:
        path = f"/v1/rounds/{'0' * 32}/reports"
        statuses = [http.post(path, content=HOSTILE["invalid cells"](), headers=JSON).status_code for _ in range(3)]
        assert statuses == [422, 429, 429]
        assert http.post(path, content=b"{", headers=JSON).status_code == 422  # a short one costs little
        many = b'{"reports":[' + b",".join([b"{}"] * 400) + b"]}"
        statuses = [http.post(path, content=many, headers=JSON).status_code for _ in range(2)]
        assert statuses == [422, 429]  # reports that cannot be read cost as much as others
