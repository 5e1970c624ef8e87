"""Fail at once while the database does not respond, instead of letting every request wait for it in turn."""

from __future__ import annotations

import threading
import time

import sqlalchemy.exc


class UnansweredError(sqlalchemy.exc.TimeoutError):
    """The database did not respond a moment ago."""


class Gate:
    """Shut for a moment whenever the database does not respond; then one request tries, and the others go on failing.

    Without it, requests that arrive during an outage would occupy all threads and all connections for as long as a
    timeout lasts, one batch after the other.
    """

    def __init__(self, pause: float, probe: float) -> None:
        self._pause = pause
        self._probe = probe
        self._lock = threading.Lock()
        self._shut_until = 0.0

    def enter(self) -> None:
        """Let a request through, or raise `UnansweredError`."""
        if not self._shut_until:
            return
        with self._lock:
            now = time.monotonic()
            if now < self._shut_until:
                raise UnansweredError("the database does not respond")
            if self._shut_until:
                self._shut_until = now + self._probe  # this one tries; the others wait for its result

    def shut(self) -> None:
        """The database did not respond."""
        with self._lock:
            self._shut_until = time.monotonic() + self._pause

    def open(self) -> None:
        """The database responded."""
        if self._shut_until:
            with self._lock:
                self._shut_until = 0.0
