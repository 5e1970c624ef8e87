"""Connections to PostgreSQL on which neither side waits for the other indefinitely."""

from __future__ import annotations

import time
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg.abc import PQGen
from psycopg.waiting import Ready
from sqlalchemy.engine import URL, Engine

from blender_dp.collector.storage.circuit_breaker import CircuitBreaker
from blender_dp.collector.storage.timeouts import Timeouts

_POOL = 8


class LimitedCursor(psycopg.Cursor[Any]):
    """A cursor that leaves the server's timer for idle transactions running after every method."""

    def executemany(self, *arguments: Any, **more: Any) -> None:  # noqa: ANN401 (psycopg's own)
        """Run a statement for many rows.

        It is pipelined, and ends with a message that stops the server's timer for idle transactions (seen with
        PostgreSQL 18) without starting it again, so that a client which disappears now would keep its locks for ever.
        """
        super().executemany(*arguments, **more)
        self.connection.execute("SELECT 1")


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed when the server does not respond in time.

    The server's own timeouts do not help against a server that hangs, nor do keepalives where a proxy or a frozen machine
    still acknowledges every packet.
    """

    limit: float | None = None
    breaker: CircuitBreaker | None = None

    def wait(self, gen: PQGen[Any], *arguments: Any, **more: Any) -> Any:  # noqa: ANN401 (psycopg's own)
        """Wait for the server, but not longer than the limit; everything psycopg does goes through here."""
        if self.limit is None or self.breaker is None:
            return super().wait(gen, *arguments, **more)
        try:
            result = super().wait(_limited(gen, time.monotonic() + self.limit), *arguments, **more)
        except _SilentError:
            self.close()
            self.breaker.trip()
            raise
        self.breaker.reset()
        return result


class _SilentError(psycopg.OperationalError):
    """The server did not respond in time."""


def _limited(gen: PQGen[Any], until: float) -> PQGen[Any]:
    """The same generator, which fails if nothing has happened by then."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready == Ready.NONE and time.monotonic() > until:
                raise _SilentError("the server did not respond in time")
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value


def postgresql_engine(url: URL, timeouts: Timeouts, breaker: CircuitBreaker) -> Engine:
    """Connections with these limits."""
    user_timeout = int(timeouts.user_timeout * 1000)
    engine = sa.create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args={
            "connect_timeout": max(int(timeouts.connect), 1),
            "keepalives": 1,
            "keepalives_idle": timeouts.keepalive_idle,
            "keepalives_interval": timeouts.keepalive_interval,
            "keepalives_count": timeouts.keepalive_count,
            "tcp_user_timeout": user_timeout,
        },
        # A transaction that has waited for a lock must see what its holder has written, whatever the server's default.
        isolation_level="READ COMMITTED",
        pool_size=_POOL,
        pool_timeout=timeouts.pool,
        pool_pre_ping=True,
        use_native_hstore=False,  # no column has this type; asking for it would take a statement
        hide_parameters=True,  # an error must not quote what was to be stored
    )
    usual = timeouts.statement + timeouts.margin

    def connect(_dialect: Any, _record: Any, arguments: Any, more: Any) -> LimitedConnection:  # noqa: ANN401 (SQLAlchemy's)
        try:
            connection = LimitedConnection.connect(*arguments, **more)
        except psycopg.OperationalError:
            breaker.trip()
            raise
        connection.limit, connection.breaker, connection.cursor_factory = usual, breaker, LimitedCursor
        try:
            _prepare(connection, timeouts)
        except BaseException:
            connection.close()  # nobody else has it yet
            raise
        return connection

    def checked_out(connection: LimitedConnection, *_: object) -> None:
        connection.limit = usual

    def checked_in(connection: LimitedConnection | None, *_: object) -> None:
        if connection is not None:
            connection.limit = timeouts.ping  # it is checked before its next use

    sa.event.listen(engine, "do_connect", connect)
    sa.event.listen(engine, "checkout", checked_out)
    sa.event.listen(engine, "checkin", checked_in)
    return engine


def _prepare(connection: LimitedConnection, timeouts: Timeouts) -> None:
    """Set the session's limits, with few statements: a connection that is lost is replaced while a request waits."""
    limits = {
        "lock_timeout": milliseconds(timeouts.lock),
        "statement_timeout": milliseconds(timeouts.statement),
        "idle_in_transaction_session_timeout": milliseconds(timeouts.idle),
        "tcp_keepalives_idle": str(timeouts.keepalive_idle),  # on the server's side; a Unix socket ignores these four
        "tcp_keepalives_interval": str(timeouts.keepalive_interval),
        "tcp_keepalives_count": str(timeouts.keepalive_count),
        "tcp_user_timeout": milliseconds(timeouts.user_timeout),
    }
    connection.autocommit = True
    # A server may be configured to acknowledge before it has written. If it waits for its replicas, that stays.
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    )
    connection.execute(
        f"SELECT {', '.join(['set_config(%s, %s, false)'] * len(limits))}", [part for one in limits.items() for part in one]
    )
    try:
        connection.execute(
            "SELECT set_config('client_connection_check_interval', %s, false)", (milliseconds(timeouts.client_check),)
        )
    except psycopg.errors.DatabaseError as error:
        # Other errors mean PostgreSQL before 14, or a platform without this setting, which is not essential.
        if isinstance(error, psycopg.OperationalError):
            raise
    connection.autocommit = False


def milliseconds(seconds: float) -> str:
    """A limit in the form of PostgreSQL's settings."""
    return str(int(seconds * 1000))
