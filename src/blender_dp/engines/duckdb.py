"""The embedded engine: DuckDB, in this process, out of core."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from pathlib import Path

import duckdb
import ibis.expr.types as ir  # noqa: TID251 (this is where it belongs)
import pyarrow as pa
import pyarrow.compute as pc

from blender_dp.engines import expressions
from blender_dp.engines.base import PLAIN_COLUMNS, Columns
from blender_dp.engines.files import Scan, scan
from blender_dp.errors import LogError
from blender_dp.records.canonical import canonical_query, canonical_url

_BATCH_ROWS = 1 << 16  # larger ones are given back to the system and faulted in again, smaller ones cost calls


class DuckDBEngine:
    """Reads, bounds, splits and counts with an in-process DuckDB.

    Ibis writes the statements, DuckDB runs them; tables live as views and temporary tables of one connection.
    """

    def __init__(self, *, ordered: bool = False) -> None:
        """With `ordered`, rows always come in one order, so that a seeded simulation repeats itself."""
        self.ordered = ordered
        self._connection = duckdb.connect()
        self._names = (f"blender_{number}" for number in count())

    def read(self, path: Path, columns: Columns = PLAIN_COLUMNS) -> ir.Table:
        """Open a log file; nothing but its header is read yet."""
        return self._view(scan(path), columns, str(path))

    def load(self, data: pa.Table, columns: Columns = PLAIN_COLUMNS, source: str = "table") -> ir.Table:
        """Let the engine see a table where it is, without a copy."""
        return self._view(Scan(self._register(data)), columns, source)

    def bound(self, log: ir.Table, m: int, key: str) -> DuckDBGroup:
        """Keep at most m canonical records of every user, chosen by keyed hash."""
        expression = expressions.bounded(log, m, key)
        with _typed_errors("log"):
            drawn = self._run(expression.order_by("user") if self.ordered else expression).to_arrow_table()
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

    def users(self, names: pa.Array) -> ir.StringColumn:
        """Named users, for `DuckDBGroup.part`; a name that is missing is nobody's."""
        return expressions.stored(self._register(pa.table({"user": names.drop_null()}))).user

    def _run(self, expression: ir.Expr) -> duckdb.DuckDBPyRelation:
        return self._connection.sql(expressions.sql(expression, "duckdb"))

    def _register(self, data: pa.Table) -> str:
        name = next(self._names)
        self._connection.register(name, data)
        return name

    def _view(self, source: Scan, columns: Columns, where: str) -> ir.Table:
        """A view of some rows with the three columns under their plain names, as text."""
        with _typed_errors(where):
            there = source.columns or self._connection.sql(f"FROM {source.sql}").columns
        for role, column in vars(columns).items():
            if column not in there:
                problem = f"has no column {column!r} for the {role}; {source.described(there)}"
                raise LogError(where, problem, f"Name the {role} column (on the command line: --{role} NAME)")
        name = next(self._names)
        chosen = ", ".join(f"{_quoted(c)}::VARCHAR AS {_quoted(role)}" for role, c in vars(columns).items())
        with _typed_errors(where):
            self._connection.execute(f"CREATE TEMP VIEW {name} AS SELECT {chosen} FROM {source.sql}")  # noqa: S608 (quoted)
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
        named = self.table.user.isin(self.engine.users(users))
        return self._part(named), self._part(~named)

    def shared_users(self, other: DuckDBGroup) -> int:
        """How many users are in both groups."""
        return self.engine.number(self.table.semi_join(other.table, "user").user.nunique())

    def _part(self, predicate: ir.BooleanValue) -> DuckDBGroup:
        return DuckDBGroup(self.engine, self.engine.hold(self.table.filter(predicate)), self.slots)


def _canonical(table: pa.Table) -> pa.Table:
    """`canonical_record` for columns: a record without a query or without a URL is none."""
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


@contextmanager
def _typed_errors(source: str) -> Iterator[None]:
    """Turn DuckDB's errors into ours. Theirs quote the rows they stumble over, so nothing of them is passed on."""
    try:
        yield
    except duckdb.Error:
        problem = "a row does not fit its header, is no UTF-8 text, or the file is damaged"
        raise LogError(source, problem, "Mend the log; every row needs the columns that its first line names") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
