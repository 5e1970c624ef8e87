"""What the collector requires of SQLite and of PostgreSQL."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from blender_dp.collector.storage import locks, round_rows
from blender_dp.collector.storage import store as store_module
from blender_dp.collector.storage.store import Store
from blender_dp.collector.storage.timeouts import Timeouts
from blender_dp.errors import StateError
from tests.collector.places import Place, listed, report
from tests.collector.steps import counted, rows


def test_a_servers_defaults_are_overridden(postgresql: Place) -> None:
    """A report must see that the round was closed while it waited, or it is acknowledged and never counted."""
    with postgresql.store().engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        for usage in ("default_transaction_isolation = 'repeatable read'", "synchronous_commit = off"):
            connection.execute(sa.text(f"ALTER DATABASE {postgresql.database} SET {usage}"))
    one, other = postgresql.rounds(), postgresql.rounds()
    made = listed(one)
    one.contributions.add_reports(made.round, [report(i) for i in range(3)])
    with one.store.write("test") as connection:
        assert connection.scalar(sa.text("SHOW transaction_isolation")) == "read committed"
        locks.hold_round(connection, made.round)
        with ThreadPoolExecutor(1) as pool:
            late = pool.submit(other.contributions.add_reports, made.round, [report(9)])
            while not rows(one, sa.text("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")):
                assert not late.done()
            round_rows.advance(connection, made.round, "listed", {"state": "closed"})
            connection.commit()
            with pytest.raises(StateError):
                late.result(120)
    assert counted(one, made.round) == {0: 3}


def test_every_connection_to_sqlite_is_durable_and_overwrites_deleted_rows(sqlite: Place) -> None:
    store = sqlite.rounds().store
    asked = {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "foreign_keys": 1}
    with store.read() as one, store.read() as another:
        for connection in (one, another):
            assert {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in asked} == asked


def test_a_new_file_that_another_process_is_writing_is_waited_for(tmp_path: Path) -> None:
    """Switching it to a write-ahead log would fail at once: SQLite's own timeout does not apply to it."""
    file = tmp_path / "collector.db"
    with (
        closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as another,
        ThreadPoolExecutor(1) as pool,
    ):
        another.execute("BEGIN IMMEDIATE")
        another.execute("CREATE TABLE new (number INTEGER)")
        store = Store.open(file)
        opened = pool.submit(sqlite_version, store)
        assert not wait([opened], timeout=0.3).done
        another.execute("COMMIT")
        assert opened.result(120) == sqlite3.sqlite_version
    store.close()


def sqlite_version(store: Store) -> str:
    with store.read() as connection:
        return connection.scalar(sa.text("SELECT sqlite_version()"))


def test_waiting_for_a_lock_times_out(postgresql: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "TIMEOUTS", Timeouts(lock=0.2))
    one, other = postgresql.rounds(), postgresql.rounds()
    made = listed(one)
    with other.store.write("test") as connection:
        locks.hold_round(connection, made.round)
        with pytest.raises(sa.exc.OperationalError, match="lock timeout"):
            one.contributions.add_reports(made.round, [report(1)])
    one.contributions.add_reports(made.round, [report(1)])
    assert counted(one, made.round) == {0: 1}
