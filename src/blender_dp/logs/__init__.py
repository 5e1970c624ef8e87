"""Where records come from: files, tables in memory, and synthetic populations."""

from blender_dp.logs.sources import find, find_reports
from blender_dp.logs.synthetic import aol_like, yandex_like
from blender_dp.logs.tables import as_table

__all__ = ["aol_like", "as_table", "find", "find_reports", "yandex_like"]
