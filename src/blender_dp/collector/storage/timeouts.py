"""How long a collector waits for PostgreSQL, and how long a collector that disappeared can block the others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timeouts:
    """Limits in seconds. `takeover` says what they add up to."""

    connect: float = 10
    """For a new connection."""
    ping: float = 5
    """For a pooled connection to show that it is still alive."""
    pool: float = 10
    """For a connection from the pool when all are in use."""
    lock: float = 15
    """For a lock that another transaction holds: longer than `idle`, so that the waiting one outlives a silent holder."""
    statement: float = 20
    """For one statement, lock included."""
    idle: float = 12
    """Between two statements of a transaction; then the server ends it and frees its locks."""
    startup_lock: float = 50
    """For a lock at startup, where nobody waits for a response."""
    long_statement: float = 600
    """For a statement of a migration, or of a reader that holds no lock."""
    slow_reader: float = 300
    """Like `idle`, for a reader that holds no lock and sends what it reads to a client."""
    margin: float = 5
    """How much longer than the server the collector waits before it treats a connection as dead."""
    keepalive_idle: int = 10
    """Silence after which the server sends a keepalive probe."""
    keepalive_interval: int = 4
    """Between two probes."""
    keepalive_count: int = 4
    """Unanswered probes that end a session."""
    user_timeout: float = 20
    """How long sent data may stay unacknowledged."""
    client_check: float = 5
    """How often the server looks, while it runs a statement, whether the client is still connected."""
    lease: float = 20
    """How long a claim on long work lasts without being renewed."""
    renewal: float = 5
    """How often a claim is renewed."""
    pause: float = 1
    """How long requests fail at once after the database did not respond, before one of them tries again."""

    @property
    def takeover(self) -> float:
        """The longest that a collector which disappeared can block another one, at any point.

        It may disappear during a statement (the server ends the transaction once it has been idle for too long), while it
        holds a lease, or between transactions (the server's keepalives notice).
        """
        keepalive = self.keepalive_idle + self.keepalive_interval * self.keepalive_count
        silent = max(keepalive, self.user_timeout) + self.client_check
        return max(self.statement + self.idle, self.lease, silent)


TIMEOUTS = Timeouts()
"""The defaults."""
