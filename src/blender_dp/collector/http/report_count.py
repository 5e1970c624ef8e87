"""How many reports a round has, counted so seldom that counting never costs more than a small part of the time."""

from __future__ import annotations

import time
from collections.abc import Callable

_SHARE = 0.02  # of one core: counting ten million reports takes a second
_LEAST_SECONDS = 1.0


class ReportCount:
    """Remembers the count of one round, and counts again when that has become cheap enough."""

    def __init__(self, count: Callable[[str], int], clock: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._clock = clock
        self._known: dict[str, tuple[float, int]] = {}

    def of(self, round_id: str) -> int:
        """The number of stored reports of a round, as last counted."""
        due, number = self._known.get(round_id, (0.0, 0))
        start = self._clock()
        if round_id in self._known and start < due:
            return number
        number = self._count(round_id)
        seconds = self._clock() - start
        self._known = {**self._known, round_id: (start + max(_LEAST_SECONDS, seconds / _SHARE), number)}
        return number

    def forget_others(self, round_ids: set[str]) -> None:
        """Remember only these rounds."""
        self._known = {name: known for name, known in self._known.items() if name in round_ids}
