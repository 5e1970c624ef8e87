"""How much one source may send."""

from __future__ import annotations

import pytest

from blender_dp.collector.http.rate_limit import Sources
from tests.collector_http.checks import is_problem
from tests.collector_http.conftest import listening


class TestSources:
    def test_a_source_that_sends_too_much(self, tmp_path):
        with listening(tmp_path / "data", reports_per_minute=5) as live:
            listed = live.listed(live.campaign())
            path = f"/v1/rounds/{listed['id']}/reports"
            messages = live.messages(listed, 12)
            with live.http() as http:
                assert is_problem(http.post(path, json={"reports": messages[:6]}), 413, "too-many")
                assert http.post(path, json={"reports": messages[:4]}).status_code == 200
                answer = http.post(path, json={"reports": messages[4:8]})
                assert is_problem(answer, 429, "limited")
                assert 30 < int(answer.headers["retry-after"]) <= 36
                elsewhere = {"X-Forwarded-For": "192.0.2.7"}  # the proxy on this machine is trusted
                assert http.post(path, json={"reports": messages[4:8]}, headers=elsewhere).status_code == 200
            kept = repr(vars(live.service.sources))
            assert "127.0.0.1" not in kept
            assert "192.0.2.7" not in kept

    def test_records_and_withdrawals_count_too(self, tmp_path):
        with listening(tmp_path / "data", reports_per_minute=2) as live:
            campaign = live.campaign()
            path, (token,) = f"/v1/rounds/{live.opened(campaign)}/records", live.enrolled(campaign)
            with live.http(token) as http:
                answers = [http.post(path, json={"query": "q"}) for _ in range(3)]
                assert [one.status_code for one in answers] == [201, 201, 429]
                receipt, elsewhere = answers[1].json()["receipt"], {"X-Forwarded-For": "192.0.2.7"}
                assert is_problem(http.delete(f"/v1/records/{receipt}"), 429, "limited")  # one source, whatever it sends
                answers = [http.delete(f"/v1/records/{receipt}", headers=elsewhere) for _ in range(3)]
                assert [one.status_code for one in answers] == [204, 204, 429]  # nobody can guess receipts for long
                assert is_problem(answers[2], 429, "limited")

    def test_buckets(self):
        now = [0.0]
        sources = Sources(60, lambda: now[0])
        assert sources.wait("192.0.2.1", 60) == 0
        assert sources.wait("192.0.2.1", 10) == pytest.approx(10)
        assert sources.wait("192.0.2.2", 60) == 0
        now[0] = 10.0
        assert sources.wait("192.0.2.1", 10) == 0
        assert sources.wait("192.0.2.1", 1) == pytest.approx(1)
        now[0] = 3_000.0
        assert sources.wait("192.0.2.1", 61) > 0  # a bucket contains at most a minute's worth

    def test_a_household_is_one_source(self):
        sources = Sources(1, lambda: 0.0)
        assert sources.wait("2001:db8::1", 1) == 0
        assert sources.wait("2001:db8::ffff:2", 1) > 0
        assert sources.wait("2001:db8:0:1::1", 1) == 0
        assert sources.wait("::ffff:192.0.2.1", 1) == 0
        assert sources.wait("192.0.2.1", 1) > 0
        assert sources.wait("no address", 1) == 0

    def test_the_key_is_renewed_and_everything_forgotten(self):
        now = [0.0]
        sources = Sources(1, lambda: now[0])
        sources.wait("192.0.2.1", 1)
        key, kept = sources._key, list(sources._buckets)
        now[0] = 3600.0
        sources.wait("192.0.2.1", 1)
        assert sources._key != key
        assert set(kept).isdisjoint(sources._buckets)
        assert len(sources._buckets) == 1

    def test_memory_is_bounded(self, monkeypatch):
        monkeypatch.setattr("blender_dp.collector.http.rate_limit._MOST", 100)
        sources = Sources(1, lambda: 0.0)
        for i in range(1_000):
            sources.wait(str(i), 1)
        assert len(sources._buckets) <= 100

    def test_a_limited_source_is_not_dropped_to_make_room(self, monkeypatch):
        monkeypatch.setattr("blender_dp.collector.http.rate_limit._MOST", 100)
        now = [0.0]
        sources = Sources(60, lambda: now[0])
        assert sources.wait("192.0.2.1", 60) == 0
        for i in range(99):
            sources.wait(str(i), 1)
        now[0] = 2.0  # all others' buckets are full again
        assert sources.wait("one more", 1) == 0
        assert sources.wait("192.0.2.1", 10) == pytest.approx(8)
