"""The embedded engine: DuckDB, in this process, out of core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import duckdb
import ibis
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.compute as pc

from blender_dp.engines import expressions
from blender_dp.engines.base import Columns
from blender_dp.errors import LogError
from blender_dp.records.canonical import canonical_query, canonical_url

_BATCH_ROWS = 1 << 20
_READERS: dict[str, Callable[[ibis.BaseBackend, str], ir.Table]] = {
    ".csv": lambda con, path: con.read_csv(path, all_varchar=True, header=True, delim=","),
    ".tsv": lambda con, path: con.read_csv(path, all_varchar=True, header=True, delim="\t"),
    ".parquet": lambda con, path: con.read_parquet(path),
}


@dataclass(frozen=True)
class DuckDBGroup:
    """One group's records in DuckDB. Ordered, it gives the same rows in the same order every time."""

    engine: DuckDBEngine
    table: ir.Table
    slots: int = 1

    @property
    def users(self) -> int:
        """How many users the group has."""
        return int(self.table.count().execute()) // self.slots

    def record_counts(self) -> Iterator[pa.RecordBatch]:
        """Every distinct record with the number of users who hold it."""
        return self.engine.stream(expressions.record_counts(self.table), order=("query", "url"))

    def records(self) -> Iterator[pa.RecordBatch]:
        """Every user's record(s), null where a user has none."""
        columns = ["user", "query", "url"] if self.engine.ordered else ["query", "url"]
        return self.engine.stream(self.table.select(columns), order=("user", "query", "url"))

    def split(self, share: Fraction, key: str, purpose: str) -> tuple[DuckDBGroup, DuckDBGroup]:
        """Part the users in two by keyed hash: about the given share, and the others."""
        drawn = expressions.drawn_users(self.table, share, key, purpose)
        return self._part(drawn), self._part(~drawn)

    def part(self, users: pa.Table) -> tuple[DuckDBGroup, DuckDBGroup]:
        """Part the users in two: those in `users` (one column, user), and the others."""
        named = self.engine.register(users)
        return self._part(self.table.user.isin(named.user)), self._part(self.table.user.notin(named.user))

    def shared_users(self, other: DuckDBGroup) -> int:
        """How many users are in both groups."""
        return int(self.table.semi_join(other.table, "user").user.nunique().execute())

    def _part(self, predicate: ir.BooleanValue) -> DuckDBGroup:
        return DuckDBGroup(self.engine, self.engine.hold(self.table.filter(predicate)), self.slots)


class DuckDBEngine:
    """Reads, bounds, splits and counts with an in-process DuckDB."""

    def __init__(self, *, ordered: bool = False) -> None:
        """With `ordered`, rows always come in one order, so that a seeded simulation repeats itself."""
        self.connection = ibis.duckdb.connect()
        self.ordered = ordered

    def read(self, path: Path, columns: Columns | None = None) -> ir.Table:
        """Open a log file; nothing is read yet but the header."""
        names = columns or Columns()
        reader = _READERS.get(path.suffix.lower())
        if reader is None:
            raise LogError(str(path), f"cannot tell the format of {path.suffix!r}", f"Use one of: {', '.join(_READERS)}")
        if not path.exists():
            raise LogError(str(path), "does not exist", "Check the path")
        try:
            table = reader(self.connection, str(path))
        except duckdb.Error as error:
            raise LogError(str(path), f"cannot be read ({_first_line(error)})", "Check that it is not damaged") from None
        return self._checked(table, names, str(path))

    def load(self, data: pa.Table, name: str = "table", columns: Columns | None = None) -> ir.Table:
        """Bring a table into the engine."""
        return self._checked(self.register(data), columns or Columns(), name)

    def register(self, data: pa.Table) -> ir.Table:
        """Let the engine see an Arrow table where it is, without a copy."""
        name = ibis.util.gen_name("arrow")
        self.connection.con.register(name, data)
        return self.connection.table(name)

    def bound(self, table: ir.Table, m: int, key: str) -> DuckDBGroup:
        """Keep at most m canonical records of every user, chosen by keyed hash."""
        expression = expressions.bounded(table, m, key)
        try:
            drawn = self.connection.to_pyarrow(expression.order_by("user") if self.ordered else expression)
        except duckdb.Error as error:
            raise LogError("log", f"cannot be read ({_first_line(error)})", "Check that it is not damaged") from None
        return DuckDBGroup(self, self.register(_canonical(drawn)), m)

    def hold(self, expression: ir.Table) -> ir.Table:
        """Run an expression once and keep its rows in the engine, on disk if memory is short."""
        name = ibis.util.gen_name("held")
        self.connection.con.execute(f'CREATE TEMP TABLE "{name}" AS {ibis.to_sql(expression)}')
        return self.connection.table(name)

    def stream(self, expression: ir.Table, order: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """Run an expression and hand out its rows batch by batch. Finish one stream before the next statement."""
        ordered = expression.order_by(order) if self.ordered else expression
        return iter(self.connection.con.sql(ibis.to_sql(ordered)).to_arrow_reader(_BATCH_ROWS))

    def _checked(self, table: ir.Table, columns: Columns, source: str) -> ir.Table:
        for role, name in vars(columns).items():
            if name not in table.columns:
                raise LogError(
                    source,
                    f"has no column {name!r} for the {role}; its columns are {', '.join(table.columns)}",
                    f"Name the {role} column (on the command line: --{role} NAME)",
                )
        return expressions.renamed(table, columns)


def _canonical(table: pa.Table) -> pa.Table:
    query = _mapped(table["query"], canonical_query)
    url = _mapped(table["url"], canonical_url)
    usable = pc.and_(pc.is_valid(query), pc.is_valid(url))
    return pa.table(
        {
            "user": table["user"],
            "query": pc.if_else(usable, query, pa.scalar(None, pa.string())),
            "url": pc.if_else(usable, url, pa.scalar(None, pa.string())),
        }
    )


def _mapped(column: pa.ChunkedArray, form: Callable[[str], str]) -> pa.Array:
    """Apply a canonical form to every distinct text once; an empty result is no text."""
    encoded = column.combine_chunks().dictionary_encode()
    forms = pa.array([form(text) or None for text in encoded.dictionary.to_pylist()], pa.string())
    return forms.take(encoded.indices)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
