"""Any database that Ibis can write SQL for and that takes and gives tables: an engine in two methods.

It is for logs that are tables in memory or Parquet files, which are copied into the database. For other logs, write
`read` and `bound` too, as DuckDB and Spark do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import count
from typing import ClassVar

import ibis.expr.types as ir  # noqa: TID251 (this is where it belongs)
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from ibis.common.exceptions import IbisError  # noqa: TID251 (this is where it belongs)
from numpy.typing import NDArray

from blender_dp.engines import expressions
from blender_dp.engines.base import Work
from blender_dp.engines.duckdb import DuckDBEngine
from blender_dp.engines.groups import TableGroup
from blender_dp.errors import LogError, ParameterError
from blender_dp.logs.canonical_columns import canonical
from blender_dp.logs.source import PLAIN_COLUMNS, Columns, Format, Source
from blender_dp.logs.tally import Tally
from blender_dp_device.digests import ListDigest

TableLog = tuple[ir.Table, int]
"""A log's rows, and how many parts its records have."""


class TableEngine(ABC):
    """Bounds, splits and counts with SQL in a dialect that Ibis writes."""

    ordered = True
    dialect: ClassVar[str]
    """What Ibis calls the database's SQL."""

    def __init__(self) -> None:
        self._here = DuckDBEngine()
        self._names = (f"blender_{number}" for number in count())

    @abstractmethod
    def fetch(self, sql: str, schema: pa.Schema) -> pa.Table:
        """Run a query and get its rows."""

    @abstractmethod
    def store(self, name: str, table: pa.Table) -> None:
        """Make a table of this name with these rows."""

    def read(self, source: Source) -> TableLog:
        """Copy Parquet files into the database."""
        if source.format is not Format.PARQUET:
            raise LogError(source.name, f"this engine does not read {source.format}", "Use .parquet files, or DuckDB")
        return self.load(pa.concat_tables(pq.read_table(file) for file in source.local), source.columns, source.name)

    def load(self, data: pa.Table, columns: Columns = PLAIN_COLUMNS, name: str = "table") -> TableLog:
        """Copy a table into the database."""
        log = self._here.load(data, columns, name)  # knows what is wrong with a row
        rows = pa.Table.from_batches(self._here.stream(log.rows, ()), log.rows.schema().to_pyarrow())
        return expressions.log(self._stored(rows)), columns.levels

    def bound(self, log: TableLog, m: int, key: str) -> tuple[TableGroup, Tally]:
        """Keep at most m usable records of every user, chosen by keyed hash, and return what became of the rows."""
        rows, levels = log
        if m == 1:
            drawn = told = self._table(expressions.drawn(rows, key, expressions.portable_hash))
        else:
            drawn = self._table(expressions.drawn_many(rows, m, key, expressions.portable_hash))
            told = self._table(expressions.tally(rows))
        parts = zip(*(told[name].to_pylist() for name in ("problem", "rows", "records")), strict=True)
        forms = canonical(_every_user(drawn), levels=levels)
        return TableGroup(self, expressions.group(self._stored(forms)), m), Tally.of(parts, {})

    def report_counts(self, source: Source, digest: ListDigest, cells: int) -> tuple[NDArray[np.int64], Tally]:
        """How often every cell is reported. That needs no database."""
        return self._here.report_counts(source, digest, cells)

    def bad_rows(self, source: Source) -> Iterator[dict[str, object]]:
        """The bad rows themselves. That needs no database."""
        return self._here.bad_rows(source)

    def progress(self) -> float:
        """Unknown, so negative."""
        return -1

    def over(self, expression: ir.Table, order: tuple[str, ...], work: Work) -> list[pa.Table]:
        """Do some work on an expression's rows, all of them here."""
        return [work(iter(self._table(expression.order_by(order)).to_batches()))]

    def number(self, expression: ir.IntegerScalar) -> int:
        """Run an expression that gives one number."""
        return int(self._table(expression.name("number").as_table())["number"][0].as_py())

    def users(self, names: pa.Array) -> ir.Table:
        """Named users as a table; null names nobody."""
        return expressions.group(self._stored(pa.table({"user": names.cast(pa.string()).drop_null()}))).select("user")

    def _table(self, expression: ir.Table) -> pa.Table:
        try:
            sql = expressions.sql(expression, self.dialect)
        except IbisError:
            problem = f"Ibis cannot say in {self.dialect} what is to be counted"
            raise ParameterError("engine", problem, "Use one record per client (m_c), or DuckDB") from None
        return self.fetch(sql, expression.schema().to_pyarrow())

    def _stored(self, table: pa.Table) -> str:
        name = next(self._names)
        self.store(name, table)
        return name


def _every_user(drawn: pa.Table) -> pa.Table:
    """A row (or as many as there are slots) of every user; of those whose rows are all bad, without a record."""
    known = drawn.select(["user", "query", "url"]).filter(pc.is_valid(drawn["user"]))
    if "problem" not in drawn.column_names:
        return known
    good = known.filter(pc.is_null(drawn.filter(pc.is_valid(drawn["user"]))["problem"]))
    others = pc.unique(known["user"].filter(pc.invert(pc.is_in(known["user"], good["user"].combine_chunks()))))
    nothing = pa.nulls(len(others), pa.string())
    return pa.concat_tables([good, pa.table([others, nothing, nothing], names=good.column_names)])
