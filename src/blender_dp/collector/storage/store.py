"""The database, SQLite in a file or PostgreSQL: named transactions, and claims on long work."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.pool import QueuePool

from blender_dp.collector.storage.circuit_breaker import CircuitBreaker
from blender_dp.collector.storage.crash_points import reached
from blender_dp.collector.storage.leases import Claim, Lease
from blender_dp.collector.storage.postgresql import milliseconds, postgresql_engine
from blender_dp.collector.storage.sqlite import READS, sqlite_engine, truncate_write_ahead_log
from blender_dp.collector.storage.timeouts import TIMEOUTS, Timeouts
from blender_dp.collector.storage.transactions import Transaction, TransactionName


@dataclass(frozen=True)
class Store:
    """A database with the collector's tables."""

    engine: Engine
    timeouts: Timeouts
    breaker: CircuitBreaker
    on_commit: list[Callable[[TransactionName], None]] = field(default_factory=list, kw_only=True, compare=False)
    """Called with the name of each transaction after its commit, in the thread that wrote."""

    @classmethod
    def open(cls, url: str | Path, timeouts: Timeouts | None = None) -> Store:
        """Connect; a plain path is a SQLite file."""
        address = make_url(str(url)) if "://" in str(url) else URL.create("sqlite", database=str(url))
        timeouts = timeouts or TIMEOUTS
        breaker = CircuitBreaker(timeouts.pause, timeouts.ping + timeouts.connect)
        is_sqlite = address.get_backend_name() == "sqlite"
        engine = sqlite_engine(address) if is_sqlite else postgresql_engine(address, timeouts, breaker)
        return cls(engine, timeouts, breaker)

    @contextmanager
    def write(self, name: TransactionName) -> Iterator[Transaction]:
        """A transaction, committed as a whole or not at all. Its name identifies the points where a test can crash."""
        self.breaker.check()
        with self.engine.begin() as connection:
            yield connection
            reached(f"{name}: before commit")
        reached(f"{name}: after commit")
        for listener in self.on_commit:
            listener(name)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A snapshot of the database: it blocks no writer, and does not see later writes."""
        options: dict[str, Any] = {READS: True}
        if not self.is_sqlite:
            options["isolation_level"] = "REPEATABLE READ"
        self.breaker.check()
        with self.engine.connect().execution_options(**options) as connection:
            yield connection

    @contextmanager
    def claim(self, name: str) -> Iterator[Claim | None]:
        """A claim on some work until the end of the block; None if another collector has it.

        On PostgreSQL, which several machines may share, it is a lease: it expires if its holder disappears. In SQLite, where
        writers take turns anyway, all claims are one lock on a file beside the database.
        """
        if self.is_sqlite:
            with Path(f"{self.engine.url.database}-claim").open("w") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    yield None
                else:
                    yield Claim()
            return
        self.breaker.check()
        lease = Lease(self.engine, name, self.timeouts)
        if not lease.acquire():
            yield None
            return
        try:
            yield lease
        finally:
            lease.release()

    @property
    def is_sqlite(self) -> bool:
        """Whether writers take turns."""
        return self.engine.dialect.name == "sqlite"

    def extend_limits(self, transaction: Transaction, *, slow_reader: bool = False) -> None:
        """Let this transaction wait longer for locks and run longer statements: at startup, or where it holds no lock.

        A slow reader may also pause longer between two statements.
        """
        if self.is_sqlite:
            return
        limits = {"lock_timeout": self.timeouts.startup_lock, "statement_timeout": self.timeouts.long_statement}
        if slow_reader:
            limits["idle_in_transaction_session_timeout"] = self.timeouts.slow_reader
        for name, seconds in limits.items():
            transaction.exec_driver_sql(f"SET LOCAL {name} = {milliseconds(seconds)}")
        driver: Any = transaction.connection.driver_connection
        driver.limit = self.timeouts.long_statement + self.timeouts.margin  # until it goes back to the pool

    def purge_deleted(self) -> None:
        """Remove deleted rows from SQLite's write-ahead log. PostgreSQL cleans up by itself."""
        if self.is_sqlite:
            truncate_write_ahead_log(self.engine)

    def pool_usage(self) -> dict[str, int]:
        """The number of open connections by their use, for the metrics."""
        pool = self.engine.pool
        return {"in use": pool.checkedout(), "idle": pool.checkedin()} if isinstance(pool, QueuePool) else {}

    def joined(self, transaction: Transaction) -> Store:
        """A store whose transactions are all part of this one."""
        return _JoinedStore(self.engine, self.timeouts, self.breaker, transaction)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@dataclass(frozen=True)
class _JoinedStore(Store):
    transaction: Transaction

    @contextmanager
    def write(self, name: TransactionName) -> Iterator[Transaction]:  # noqa: ARG002 (the outer transaction has its own name)
        """The outer transaction."""
        yield self.transaction

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """The outer transaction, too, so that its own writes are visible."""
        yield self.transaction
