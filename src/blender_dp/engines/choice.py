"""Choose an engine by its name."""

from __future__ import annotations

from blender_dp.engines.base import Engine
from blender_dp.engines.duckdb import DuckDBEngine
from blender_dp.errors import ParameterError


def chosen_engine(name: str, memory: str | None) -> Engine:
    """The engine called `duckdb`, or `spark` with or without a master, as in `spark:local[2]`."""
    kind, _, master = name.partition(":")
    if kind == "duckdb" and not master:
        return DuckDBEngine(memory=memory)
    if kind == "spark":
        from blender_dp.engines.spark import SparkEngine  # noqa: PLC0415 (may be missing, and is slow to load)

        return SparkEngine(master=master or "local[*]", memory=memory)
    raise ParameterError("engine", f"{name!r} is unknown", "Use duckdb, spark or spark:MASTER")
