"""The heavy counting: one record per user, groups, counts. Nothing here is private, and nothing here is random."""

from blender_dp.engines.base import Engine, Group
from blender_dp.engines.duckdb import DuckDBEngine
from blender_dp.engines.source import PLAIN_COLUMNS, Columns, Format, Problem, Source, Tally

__all__ = ["PLAIN_COLUMNS", "Columns", "DuckDBEngine", "Engine", "Format", "Group", "Problem", "Source", "Tally"]
