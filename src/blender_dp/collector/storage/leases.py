"""Claims on long work, so that only one of several collectors does it.

On PostgreSQL a claim is a lease: a row that names its holder and expires by the database's clock unless its holder renews
it. A session lock would last until the server notices that a machine has disappeared. A holder that has lost its lease may
not know it yet, so the transaction that commits the work checks it.
"""

from __future__ import annotations

import threading
from contextlib import suppress

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from blender_dp.collector.storage.timeouts import Timeouts
from blender_dp.errors import StateError
from blender_dp_device.entropy import system_bytes

_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_ACQUIRE = sa.text(
    "INSERT INTO leases (name, holder, until) VALUES (:name, :holder, NOW + :length) ON CONFLICT (name) DO UPDATE"
    " SET holder = excluded.holder, until = excluded.until WHERE leases.until < NOW RETURNING holder".replace("NOW", _NOW)
)
_RENEW = sa.text(
    "UPDATE leases SET until = NOW + :length WHERE name = :name AND holder = :holder RETURNING holder".replace("NOW", _NOW)
)
_CHECK = sa.text("SELECT holder FROM leases WHERE name = :name AND holder = :holder FOR SHARE")
_RELEASE = sa.text("DELETE FROM leases WHERE name = :name AND holder = :holder")


class Claim:
    """Work that is ours as long as this process lives."""

    def check(self, connection: Connection) -> None:
        """Raise if another collector has taken over; called in the transaction that commits the work."""


class Lease(Claim):
    """Work that is ours as long as we renew our lease on it, which a thread does."""

    def __init__(self, engine: Engine, name: str, timeouts: Timeouts) -> None:
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._timeouts = timeouts
        self._values = {"name": name, "holder": system_bytes(16).hex()}
        self._ended = threading.Event()

    def acquire(self) -> bool:
        """Try to acquire the lease; return whether the work is ours now."""
        acquired = self._run(_ACQUIRE, length=int(self._timeouts.lease * 1000))
        if acquired:
            threading.Thread(target=self._renew, name="lease", daemon=True).start()
        return acquired

    def check(self, connection: Connection) -> None:
        """Raise if the lease was lost. The row stays locked, so that nobody takes over before the transaction ends."""
        if connection.scalar(_CHECK, self._values) is None:
            raise StateError("round", "another collector has taken over this work", "The step will be repeated")

    def release(self) -> None:
        """Release the lease; if the database does not respond, it expires."""
        self._ended.set()
        with suppress(sa.exc.SQLAlchemyError):
            self._run(_RELEASE)

    def _renew(self) -> None:
        held = True
        while held and not self._ended.wait(self._timeouts.renewal):
            with suppress(sa.exc.SQLAlchemyError):  # the next attempt may still be in time
                held = self._run(_RENEW, length=int(self._timeouts.lease * 1000))

    def _run(self, statement: sa.TextClause, **more: int) -> bool:
        with self._engine.connect() as connection:
            result = connection.execute(statement, {**self._values, **more})
            return result.returns_rows and result.first() is not None
