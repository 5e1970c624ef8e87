"""Notices rounds that do not advance and a worker that fails, for the heartbeat and the metrics."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable

from blender_dp.collector.round_states import UNDER_WAY, WORKED_ON, State
from blender_dp.collector.storage.round_rows import Round

_FAILURES = 30  # in a row: a database that is down for some seconds is no reason to page anyone


class Watch:
    """What the worker has seen. Times count from when this process first saw a state."""

    def __init__(self, stuck_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._stuck_seconds = stuck_seconds
        self._clock = clock
        self._since: dict[tuple[str, State], float] = {}
        self.failures = 0
        """Of the worker, in a row."""

    def see(self, rounds: Iterable[Round]) -> list[tuple[str, State]]:
        """Note the state of all unfinished rounds; return those whose state has changed."""
        now = self._clock()
        new = [(one.id, one.state) for one in rounds]
        changed = [one for one in new if one not in self._since]
        self._since = {one: self._since.get(one, now) for one in new}
        return changed

    def numbers(self) -> dict[State, tuple[int, float]]:
        """For each state, the number of rounds in it, and the longest time that one has been in it."""
        now, since = self._clock(), self._since
        counts = Counter(state for _, state in since)
        return {state: (counts[state], max((now - at for (_, one), at in since.items() if one == state), default=0.0))
                for state in UNDER_WAY}  # fmt: skip

    def problem(self) -> str | None:
        """What the operator should look at, if anything."""
        now = self._clock()
        for (name, state), at in self._since.items():
            if state in WORKED_ON and now - at > self._stuck_seconds:
                return f"round {name} has been {state} for {int(now - at)} seconds"
        if self.failures >= _FAILURES:
            return f"the worker has failed {self.failures} times in a row"
        return None
