"""Fails requests at once while the database does not respond, instead of letting each of them wait for it."""

from __future__ import annotations

import threading
import time

import sqlalchemy.exc


class DatabaseSilentError(sqlalchemy.exc.TimeoutError):
    """The database did not respond a moment ago."""


class CircuitBreaker:
    """Open for a moment whenever the database does not respond; then one request tries, and the others keep failing.

    Without it, requests that arrive during an outage would occupy all threads and all connections for as long as a
    timeout lasts, one batch after another.
    """

    def __init__(self, pause: float, probe: float) -> None:
        self._pause = pause
        self._probe = probe
        self._lock = threading.Lock()
        self._open_until = 0.0

    def check(self) -> None:
        """Let a request pass, or raise `DatabaseSilentError`."""
        if not self._open_until:
            return
        with self._lock:
            now = time.monotonic()
            if now < self._open_until:
                raise DatabaseSilentError("the database does not respond")
            if self._open_until:
                self._open_until = now + self._probe  # this one tries; the others wait for its result

    def trip(self) -> None:
        """Note that the database did not respond."""
        with self._lock:
            self._open_until = time.monotonic() + self._pause

    def reset(self) -> None:
        """Note that the database responded."""
        if self._open_until:
            with self._lock:
                self._open_until = 0.0
