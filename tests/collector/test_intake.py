"""Reports of many requests become few transactions, of which none is too large."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from typing import Any

import pytest

from blender_dp.collector.intake import Intake


class Slow:
    """Keeps what it is given, and waits before the first time."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.batches: list[list[tuple[bytes, bytes]]] = []

    def add_reports(self, _: str, arrived: Iterable[tuple[bytes, bytes]]) -> None:
        self.go_on.wait(10)
        self.batches.append(list(arrived))


@pytest.mark.parametrize(("cells", "most"), [(1, 50_000), (4_000, 200)])
def test_a_transaction_has_an_end(cells: int, most: int) -> None:
    slow: Any = Slow()
    intake = Intake(slow)
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
    assert max(sizes) == pytest.approx(most, abs=each)  # together as many as may be, and no more
