"""The migrations lead to the schema in the code from any earlier version, on SQLite and on PostgreSQL."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from blender_dp.collector.storage import migrate as module
from blender_dp.collector.storage.migrate import migrate
from blender_dp.collector.storage.schema import metadata
from blender_dp.collector.storage.store import Store
from tests.collector.places import Place, listed

REVISIONS = [one.revision for one in ScriptDirectory(str(module._FOLDER)).walk_revisions()][::-1]


def differences(store: Store) -> list[Any]:
    """What Alembic would change to get from the database to the schema."""
    with store.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        return compare_metadata(context, metadata)


def written(store: Store) -> dict[str, list[str]]:
    """The schema as SQLite stores it, table by table; this also distinguishes tables with and without row ids.

    The parts of a table are sorted: a column that is added later comes after the constraints.
    """
    with store.read() as connection:
        found = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").all()
    return {name: _parts(sql) for name, sql in found if name != "alembic_version"}


def _parts(sql: str) -> list[str]:
    """What stands before, between and after the commas and outermost brackets of a statement."""
    head, _, rest = re.sub(r"\s+", " ", sql).partition("(")
    inside, _, tail = rest.rpartition(")")
    return [head.strip(), tail.strip(), *sorted(part.strip() for part in re.split(r",(?![^()]*\))", inside))]


def contents(store: Store) -> list[list[Any]]:
    with store.read() as connection:
        return [list(connection.execute(sa.select(table)).all()) for table in metadata.sorted_tables]


def test_a_migrated_database_matches_the_schema(empty_place: Place) -> None:
    store = empty_place.store()
    assert differences(store)  # the comparison detects what is missing
    migrate(store)
    assert differences(store) == []
    with store.read() as connection:
        assert {*sa.inspect(connection).get_table_names()} == {*metadata.tables, "alembic_version"}
        assert connection.scalars(sa.text("SELECT version_num FROM alembic_version")).all() == REVISIONS[-1:]


def test_migrated_sqlite_tables_equal_the_declared_ones(sqlite: Place, tmp_path: Path) -> None:
    migrated, made = sqlite.store(), Store.open(tmp_path / "made.db")
    migrate(migrated)
    metadata.create_all(made.engine)
    assert written(migrated) == written(made)
    made.close()


@pytest.mark.parametrize("first", REVISIONS)
def test_migrations_run_from_any_version_and_can_be_repeated(empty_place: Place, first: str) -> None:
    store = empty_place.store()
    migrate(store, first)
    for _ in range(2):
        migrate(store)
        assert differences(store) == []


def test_a_current_database_is_recognised_without_alembic(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    assert REVISIONS[-1] == module._NEWEST
    monkeypatch.setitem(sys.modules, "alembic", None)  # importing it fails
    migrate(place.store())


@pytest.mark.parametrize("version", [*REVISIONS[:-1], "9999"])
def test_any_other_version_needs_alembic(place: Place, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    store = place.store()
    with store.write("test") as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :version"), {"version": version})
    monkeypatch.setitem(sys.modules, "alembic", None)
    with pytest.raises(ImportError):
        migrate(store)


def test_existing_rows_are_preserved(place: Place) -> None:
    rounds = place.rounds()
    listed(rounds)
    before = contents(rounds.store)
    assert sum(map(len, before)) > 24
    migrate(rounds.store, REVISIONS[-1])  # with Alembic, although it is current
    assert contents(rounds.store) == before


def test_no_migration_imports_the_schema() -> None:
    """A migration that uses the tables in the code would create different ones tomorrow."""
    for path in (module._FOLDER / "versions").glob("*.py"):
        assert "blender_dp" not in path.read_text(encoding="utf-8"), path.name
