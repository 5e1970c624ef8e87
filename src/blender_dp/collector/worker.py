"""The thread that does the work that no request waits for: scheduled steps, lists, releases and deletions."""

from __future__ import annotations

import threading
from collections.abc import Callable

from blender_dp.collector.monitoring.log_lines import LOG
from blender_dp.collector.rounds.facade import Rounds


class Worker:
    """Does what is due, every second or when it is woken."""

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
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Look for due work at once."""
        self._woken.set()

    def stop(self) -> None:
        """Finish the current work, and stop."""
        self._stopped = True
        self._woken.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped:
            done = [self._try(work) for work in (self._rounds.schedule.advance_due, self._delete_reports)]
            if all(done):
                self._try(self._done)
            self._woken.wait(self._seconds)
            self._woken.clear()

    def _delete_reports(self) -> None:
        self._rounds.retention.delete_reports(lambda: self._stopped)

    def _try(self, work: Callable[[], object]) -> bool:
        try:
            work()
        except Exception as error:  # noqa: BLE001 (whatever it was, the loop tries again)
            LOG.error("worker: %s", type(error).__name__)  # its text may quote what it worked on
            self._failed()
            return False
        return True
