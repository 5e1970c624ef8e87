"""An engine with two methods, for any database that Ibis can generate SQL for and that can store and return tables.

It supports tables in memory and Parquet files, which are copied into the database. For other logs, implement `read` and
`bound` as well, as DuckDB and Spark do.
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
"""A log's rows, and the number of parts of its records."""


class TableEngine(ABC):
    """Bounds, splits and counts with SQL in a dialect that Ibis supports."""

    ordered = True
    dialect: ClassVar[str]
    """Ibis' name for the SQL dialect of the database."""

    def __init__(self) -> None:
        self._duckdb = DuckDBEngine()
        self._names = (f"blender_{number}" for number in count())

    @abstractmethod
    def fetch(self, sql: str, schema: pa.Schema) -> pa.Table:
        """Run a query and return its rows."""

    @abstractmethod
    def store(self, name: str, table: pa.Table) -> None:
        """Create a table of this name with these rows."""

    def read(self, source: Source) -> TableLog:
        """Copy Parquet files into the database."""
        if source.format is not Format.PARQUET:
            raise LogError(source.name, f"this engine does not read {source.format}", "Use .parquet files, or DuckDB")
        return self.load(pa.concat_tables(pq.read_table(file) for file in source.local), source.columns, source.name)

    def load(self, data: pa.Table, columns: Columns = PLAIN_COLUMNS, name: str = "table") -> TableLog:
        """Copy a table into the database."""
        log = self._duckdb.load(data, columns, name)  # it determines the problem of a row
        rows = pa.Table.from_batches(self._duckdb.stream(log.rows, ()), log.rows.schema().to_pyarrow())
        return expressions.log(self._stored(rows)), columns.levels

    def bound(self, log: TableLog, m: int, key: str) -> tuple[TableGroup, Tally]:
        """Choose at most m usable records of every user by keyed hash; also return a tally of the rows."""
        rows, levels = log
        if m == 1:
            drawn = counted = self._table(expressions.drawn(rows, key, expressions.portable_hash))
        else:
            drawn = self._table(expressions.drawn_many(rows, m, key, expressions.portable_hash))
            counted = self._table(expressions.tally(rows))
        parts = zip(*(counted[name].to_pylist() for name in ("problem", "rows", "records")), strict=True)
        forms = canonical(_every_user(drawn), levels=levels)
        return TableGroup(self, expressions.group(self._stored(forms)), m), Tally.of(parts, {})

    def report_counts(self, source: Source, digest: ListDigest, cells: int) -> tuple[NDArray[np.int64], Tally]:
        """Count the reports of every cell. This needs no database."""
        return self._duckdb.report_counts(source, digest, cells)

    def bad_rows(self, source: Source) -> Iterator[dict[str, object]]:
        """The bad rows. This needs no database."""
        return self._duckdb.bad_rows(source)

    def progress(self) -> float:
        """Return a negative number: the progress is unknown."""
        return -1

    def over(self, expression: ir.Table, order: tuple[str, ...], work: Work) -> list[pa.Table]:
        """Apply `work` to all rows of an expression, in this process."""
        return [work(iter(self._table(expression.order_by(order)).to_batches()))]

    def number(self, expression: ir.IntegerScalar) -> int:
        """Run an expression whose result is one number."""
        return int(self._table(expression.name("number").as_table())["number"][0].as_py())

    def users(self, names: pa.Array) -> ir.Table:
        """The named users as a table, without nulls."""
        return expressions.group(self._stored(pa.table({"user": names.cast(pa.string()).drop_null()}))).select("user")

    def _table(self, expression: ir.Table) -> pa.Table:
        try:
            sql = expressions.sql(expression, self.dialect)
        except IbisError:
            problem = f"Ibis cannot express this count in {self.dialect}"
            raise ParameterError("engine", problem, "Use one record per client (m_c), or DuckDB") from None
        return self.fetch(sql, expression.schema().to_pyarrow())

    def _stored(self, table: pa.Table) -> str:
        name = next(self._names)
        self.store(name, table)
        return name


def _every_user(drawn: pa.Table) -> pa.Table:
    """One row per slot of every user; users whose rows are all bad have one without a record."""
    known = drawn.select(["user", "query", "url"]).filter(pc.is_valid(drawn["user"]))
    if "problem" not in drawn.column_names:
        return known
    good = known.filter(pc.is_null(drawn.filter(pc.is_valid(drawn["user"]))["problem"]))
    others = pc.unique(known["user"].filter(pc.invert(pc.is_in(known["user"], good["user"].combine_chunks()))))
    nothing = pa.nulls(len(others), pa.string())
    return pa.concat_tables([good, pa.table([others, nothing, nothing], names=good.column_names)])
