"""A heartbeat that responds in time, whatever it checks."""

from __future__ import annotations

import asyncio
import threading

import pytest

from blender_dp.collector.http.health_check import HealthCheck
from blender_dp.collector.http.problems import ProblemError


def test_a_check_that_hangs_is_reported_in_time_and_started_once() -> None:
    started, released = [], threading.Event()

    def check() -> str:
        started.append(threading.current_thread())
        assert released.wait(60)
        return "well"

    async def ask() -> None:
        health = HealthCheck(check, 0.05)
        for _ in range(3):  # they share one check, and one thread
            with pytest.raises(ProblemError, match="did not respond within") as late:
                await asyncio.wait_for(health(), 30)
            assert late.value.status_code == 503
        assert len(started) == 1
        released.set()
        started[0].join(60)
        assert await asyncio.wait_for(HealthCheck(check, 30)(), 60) == "well"

    try:
        asyncio.run(ask())
    finally:
        released.set()


def test_a_check_that_fails_is_reported_as_such() -> None:
    def check() -> None:
        raise ProblemError(503, "stuck", "the round does not advance")

    with pytest.raises(ProblemError, match="does not advance"):
        asyncio.run(HealthCheck(check)())
