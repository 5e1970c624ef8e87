"""The work that no request waits for: scheduled steps, lists and releases, resumed after a crash."""

from __future__ import annotations

import threading
from collections.abc import Callable

from blender_dp.collector.monitoring.log_lines import LOG
from blender_dp.collector.rounds.lifecycle import Rounds


class Worker:
    """Looks every few seconds, or when it is woken, whether there is something to do."""

    def __init__(
        self,
        rounds: Rounds,
        seconds: float = 1.0,
        *,
        done: Callable[[], None] = lambda: None,
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        self._rounds = rounds
        self._done = done
        self._failed = failed
        self._seconds = seconds
        self._woken = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def wake(self) -> None:
        """There is something to do."""
        self._woken.set()

    def stop(self) -> None:
        """Finish what is being done, and stop."""
        self._stopped = True
        self._woken.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped:
            done = [self._try(work) for work in (self._rounds.advance_due, self._rounds.forget_reports)]
            if all(done):
                self._try(self._done)
            self._woken.wait(self._seconds)
            self._woken.clear()

    def _try(self, work: Callable[[], object]) -> bool:
        try:
            work()
        except Exception as error:  # noqa: BLE001 (whatever it was, the next look tries again)
            LOG.error("worker: %s", type(error).__name__)  # its text may quote what it worked on
            self._failed()
            return False
        return True
