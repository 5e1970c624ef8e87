"""Alembic's entry point: it runs on the connection that `migrate` hands over."""

from __future__ import annotations

from alembic import context

from blender_dp.collector.storage.schema import metadata

connection = context.config.attributes["connection"]
if connection.dialect.name == "postgresql":
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(2017081601)")  # one process at a time
context.configure(connection=connection, target_metadata=metadata, transactional_ddl=False)
context.run_migrations()
