"""The expensive counting: one record per user, groups, counts. Nothing here adds privacy, and nothing here is random."""

from blender_dp.engines.base import Engine, Group
from blender_dp.engines.duckdb import DuckDBEngine

__all__ = ["DuckDBEngine", "Engine", "Group"]
