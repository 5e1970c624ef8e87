"""Reports of many requests become few transactions, none of them too large."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from typing import Any

import pytest

from blender_dp.collector.rounds.report_writer import ReportWriter
from blender_dp.errors import StateError
from tests.collector.places import report


class Slow:
    """Stores what it receives, and waits before the first time."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.batches: list[list[tuple[bytes, bytes]]] = []

    def add_reports(self, name: str, arrived: Iterable[tuple[bytes, bytes]]) -> None:
        self.go_on.wait(120)
        if name == "closed":
            raise StateError("round", "does not take reports", "Ask for the current round")
        self.batches.append(list(arrived))


@pytest.mark.parametrize(("cells", "most"), [(1, 50_000), (4_000, 200)])
def test_a_transaction_has_a_maximum_size(cells: int, most: int) -> None:
    slow: Any = Slow()
    intake = ReportWriter(slow)
    each = most // 10

    async def scene() -> None:
        waiting = [asyncio.ensure_future(intake.add("round", [(bytes(16), bytes(4 * cells))] * each)) for _ in range(25)]
        await asyncio.sleep(0.1)
        slow.go_on.set()
        await asyncio.gather(*waiting)

    asyncio.run(scene())
    intake.stop()
    sizes = [len(batch) for batch in slow.batches]
    assert sum(sizes) == 25 * each
    assert max(sizes) == pytest.approx(most, abs=each)  # as many together as allowed, and no more


def test_a_round_that_accepts_no_reports_does_not_affect_others() -> None:
    slow: Any = Slow()
    intake = ReportWriter(slow)

    async def scene() -> list[Any]:
        names = ("first", "closed", "round", "closed", "round")
        waiting = [asyncio.ensure_future(intake.add(name, [report(i)])) for i, name in enumerate(names)]
        await asyncio.sleep(0.1)
        slow.go_on.set()
        return await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 10)

    came = [type(one) for one in asyncio.run(scene())]
    intake.stop()
    assert came == [type(None), StateError, type(None), StateError, type(None)]
    assert slow.batches == [[report(0)], [report(2), report(4)]]


def test_waiting_reports_are_written_before_stopping() -> None:
    slow: Any = Slow()
    intake = ReportWriter(slow)

    async def scene() -> None:
        waiting = [asyncio.ensure_future(intake.add("round", [report(0)]))]
        await asyncio.sleep(0.1)  # the first one is being written, and the others wait
        waiting += [asyncio.ensure_future(intake.add("round", [report(i)])) for i in range(1, 4)]
        await asyncio.sleep(0.1)
        stopping = asyncio.ensure_future(asyncio.to_thread(intake.stop))
        await asyncio.sleep(0.1)
        slow.go_on.set()
        await asyncio.wait_for(asyncio.gather(*waiting, stopping), 10)

    asyncio.run(scene())
    assert sorted(one for batch in slow.batches for one in batch) == [report(i) for i in range(4)]


def test_reports_that_arrive_during_the_stop_are_refused() -> None:
    """They passed the check a moment before the stop, and nothing is written any more."""
    slow: Any = Slow()
    intake = ReportWriter(slow)

    async def scene() -> None:
        intake._waiting.put(None)
        await asyncio.to_thread(intake._thread.join)
        late = asyncio.ensure_future(intake.add("round", [report(1)]))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(intake.stop)
        with pytest.raises(StateError, match="is stopping"):
            await asyncio.wait_for(late, 120)

    asyncio.run(scene())
    assert slow.batches == []
