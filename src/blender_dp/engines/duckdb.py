"""The embedded engine: DuckDB, in this process, out of core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from pathlib import Path

import duckdb
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.compute as pc

from blender_dp.engines import expressions
from blender_dp.engines.base import Columns
from blender_dp.errors import LogError
from blender_dp.records.canonical import canonical_query, canonical_url

_BATCH_ROWS = 1 << 20
_READERS = {
    ".csv": "read_csv({}, all_varchar = true, header = true, delim = ',')",
    ".tsv": "read_csv({}, all_varchar = true, header = true, delim = '\t')",
    ".parquet": "read_parquet({})",
}


class DuckDBEngine:
    """Reads, bounds, splits and counts with an in-process DuckDB.

    Ibis writes the statements, DuckDB runs them; tables live as views and temporary tables of one connection.
    """

    def __init__(self, *, ordered: bool = False) -> None:
        """With `ordered`, rows always come in one order, so that a seeded simulation repeats itself."""
        self.ordered = ordered
        self._connection = duckdb.connect()
        self._names = (f"blender_{number}" for number in count())

    def read(self, path: Path, columns: Columns | None = None) -> ir.Table:
        """Open a log file; nothing is read yet but its header."""
        reader = _READERS.get(path.suffix.lower())
        if reader is None:
            raise LogError(str(path), f"cannot tell the format of {path.suffix!r}", f"Use one of: {', '.join(_READERS)}")
        if not path.exists():
            raise LogError(str(path), "does not exist", "Check the path")
        return self._view(reader.format(_text(str(path))), columns or Columns(), str(path))

    def load(self, data: pa.Table, source: str = "table", columns: Columns | None = None) -> ir.Table:
        """Let the engine see a table where it is, without a copy."""
        return self._view(self._register(data), columns or Columns(), source)

    def bound(self, table: ir.Table, m: int, key: str) -> DuckDBGroup:
        """Keep at most m canonical records of every user, chosen by keyed hash."""
        expression = expressions.bounded(table, m, key)
        try:
            drawn = self._run(expression.order_by("user") if self.ordered else expression).to_arrow_table()
        except duckdb.Error as error:
            raise LogError("log", f"cannot be read ({_first_line(error)})", "Check that it is not damaged") from None
        return DuckDBGroup(self, expressions.stored(self._register(_canonical(drawn))), m)

    def hold(self, expression: ir.Table) -> ir.Table:
        """Run an expression once and keep its rows in the engine, on disk if memory is short."""
        name = next(self._names)
        self._connection.execute(f"CREATE TEMP TABLE {name} AS {expressions.sql(expression, 'duckdb')}")
        return expressions.stored(name)

    def stream(self, expression: ir.Table, order: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """Run an expression and hand out its rows batch by batch. Finish one stream before the next statement."""
        return iter(self._run(expression.order_by(order) if self.ordered else expression).to_arrow_reader(_BATCH_ROWS))

    def number(self, expression: ir.IntegerScalar) -> int:
        """Run an expression that gives one number."""
        return int(self._run(expression).fetchall()[0][0])

    def users(self, names: pa.Array) -> ir.Table:
        """A table of users by name, for `DuckDBGroup.part`."""
        return self._view(self._register(pa.table({"user": names})), Columns("user", "user", "user"), "users")

    def _run(self, expression: ir.Expr) -> duckdb.DuckDBPyRelation:
        return self._connection.sql(expressions.sql(expression, "duckdb"))

    def _register(self, data: pa.Table) -> str:
        name = next(self._names)
        self._connection.register(name, data)
        return name

    def _view(self, source: str, columns: Columns, where: str) -> ir.Table:
        """A view of some rows with the three columns under their plain names, as text; an empty text is no text."""
        try:
            there = self._connection.sql(f"FROM {source}").columns
        except duckdb.Error as error:
            raise LogError(where, f"cannot be read ({_first_line(error)})", "Check that it is not damaged") from None
        for role, column in vars(columns).items():
            if column not in there:
                problem = f"has no column {column!r} for the {role}; its columns are {', '.join(there)}"
                raise LogError(where, problem, f"Name the {role} column (on the command line: --{role} NAME)")
        name = next(self._names)
        chosen = ", ".join(f"nullif({_quoted(c)}::VARCHAR, '') AS {_quoted(role)}" for role, c in vars(columns).items())
        self._connection.execute(f"CREATE TEMP VIEW {name} AS SELECT {chosen} FROM {source}")  # noqa: S608 (quoted above)
        return expressions.stored(name)


@dataclass(frozen=True)
class DuckDBGroup:
    """One group's records in DuckDB."""

    engine: DuckDBEngine
    table: ir.Table
    slots: int = 1

    @property
    def users(self) -> int:
        """How many users the group has; a user without a usable record counts."""
        return self.engine.number(self.table.count()) // self.slots

    def record_counts(self) -> Iterator[pa.RecordBatch]:
        """Every distinct record with the number of users who hold it."""
        return self.engine.stream(expressions.record_counts(self.table), order=("query", "url"))

    def records(self) -> Iterator[pa.RecordBatch]:
        """Every user's record(s), null where a user has none."""
        return self.engine.stream(self.table, order=("user", "query", "url"))

    def split(self, share: Fraction, key: str, purpose: str) -> tuple[DuckDBGroup, DuckDBGroup]:
        """Part the users in two by keyed hash: about the given share, and the others."""
        drawn = expressions.drawn_users(self.table, share, key, purpose)
        return self._part(drawn), self._part(~drawn)

    def part(self, users: pa.Array) -> tuple[DuckDBGroup, DuckDBGroup]:
        """Part the users in two: the named ones, and the others."""
        named = self.table.user.isin(self.engine.users(users).user)
        return self._part(named), self._part(~named)

    def shared_users(self, other: DuckDBGroup) -> int:
        """How many users are in both groups."""
        return self.engine.number(self.table.semi_join(other.table, "user").user.nunique())

    def _part(self, predicate: ir.BooleanValue) -> DuckDBGroup:
        return DuckDBGroup(self.engine, self.engine.hold(self.table.filter(predicate)), self.slots)


def _canonical(table: pa.Table) -> pa.Table:
    query = _mapped(table["query"], canonical_query)
    url = _mapped(table["url"], canonical_url)
    usable = pc.and_(pc.is_valid(query), pc.is_valid(url))
    nothing = pa.scalar(None, pa.string())
    return pa.table(
        {
            "user": table["user"],
            "query": pc.if_else(usable, query, nothing),
            "url": pc.if_else(usable, url, nothing),
        }
    )


def _mapped(column: pa.ChunkedArray, form: Callable[[str], str]) -> pa.Array:
    """Apply a canonical form to every distinct text once; an empty result is no text."""
    encoded = column.combine_chunks().dictionary_encode()
    forms = pa.array([form(text) or None for text in encoded.dictionary.to_pylist()], pa.string())
    return forms.take(encoded.indices)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
