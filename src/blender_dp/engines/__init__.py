"""The heavy counting: one record per user, groups, counts. Nothing here is private, and nothing here is random."""

from blender_dp.engines.base import Engine, Group
from blender_dp.engines.duckdb import DuckDBEngine

__all__ = ["DuckDBEngine", "Engine", "Group"]
