"""The embedded engine: DuckDB, in this process, out of core."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import count
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

import duckdb
import ibis  # noqa: TID251 (this is where it belongs)
import ibis.expr.datatypes as dt  # noqa: TID251 (this is where it belongs)
import ibis.expr.types as ir  # noqa: TID251 (this is where it belongs)
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from blender_dp.engines import expressions
from blender_dp.engines.base import Work
from blender_dp.engines.groups import TableGroup
from blender_dp.engines.streamed_records import GROUP, Part, usable_records
from blender_dp.errors import BlenderError, LogError, ParameterError
from blender_dp.logs.canonical_columns import canonical
from blender_dp.logs.compression import without_cut_off_ends
from blender_dp.logs.encoding import as_utf8
from blender_dp.logs.header import check_columns
from blender_dp.logs.readers.duckdb import parquet_sql, reports_sql, rows_sql, table_sql
from blender_dp.logs.readers.known_users import text
from blender_dp.logs.readers.rejected_lines import RejectedLines
from blender_dp.logs.source import PLAIN_COLUMNS, Columns, Format, Source
from blender_dp.logs.tally import Problem, Tally
from blender_dp_device.digests import ListDigest

_BATCH_ROWS = 1 << 16  # larger batches cause page faults each time, smaller ones cause more calls
_ENOUGH = 350_000_000  # bytes with which DuckDB was as fast as with more


@ibis.udf.scalar.builtin(name="hash")  # type: ignore[untyped-decorator]
def _hash(key: str, user: str, query: str, url: str) -> dt.UInt64:
    """DuckDB's own hash: the same for the same version of DuckDB."""


@dataclass(frozen=True)
class DuckDBLog:
    """A log that DuckDB can read: its rows, its source, and the table of the lines that DuckDB itself rejected."""

    rows: ir.Table
    name: str
    levels: int
    source: Source | None = None
    rejects: str = ""
    cut_off: int = 0


class DuckDBEngine:
    """Reads, bounds, splits and counts with an in-process DuckDB.

    Ibis generates the statements, DuckDB runs them. With a limit on `memory` (such as "2GB"), it spills to disk.
    """

    def __init__(
        self, *, ordered: bool = False, portable: bool = False, memory: str | None = None, spill: bool = True
    ) -> None:
        """With `ordered`, rows always arrive in the same order, so that a seeded simulation is repeatable.

        With `portable`, a key chooses the same records as on any other engine; DuckDB's own hash is faster.
        Without `spill`, rows are never written to disk: if memory runs out, the work fails.
        """
        self.ordered = ordered
        self._record_hash = expressions.portable_hash if portable else _own_hash
        self._connection = duckdb.connect()
        self._scratch = mkdtemp(prefix="blender-dp-")  # readable by this user only
        finalize(self, rmtree, self._scratch, ignore_errors=True)
        self._connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        # The smaller side of every join is written on the right. DuckDB, which does not know how long a file is, cannot.
        # A filter that every reader of a materialised table applies is not worth applying once more while it is written.
        self._connection.execute("SET disabled_optimizers = 'build_side_probe_side,cte_filter_pusher'")
        # ORDER BY provides the order where one is needed; preserving it elsewhere would make threads wait for each other.
        self._connection.execute("SET preserve_insertion_order = false")
        self._connection.execute(f"SET temp_directory = {text(self._scratch if spill else '')}")  # an empty name disables it
        if memory is not None:
            self._limit(memory)
        self._names = (f"blender_{number}" for number in count())

    def read(self, source: Source) -> DuckDBLog:
        """Open log files. Little more than their headers is read yet."""
        rejects, source = next(self._names), as_utf8(source, self._scratch)
        if source.format is Format.PARQUET:
            self._check_columns(parquet_sql(source), source.columns, source.name)
        return DuckDBLog(
            self._view(rows_sql(source, rejects), source.name), source.name, source.columns.levels, source, rejects
        )

    def load(self, data: pa.Table, columns: Columns = PLAIN_COLUMNS, name: str = "table") -> DuckDBLog:
        """Use a table in memory as a log, without copying it."""
        with _typed_errors(name):  # some types of columns cannot be registered
            table = self._register(data)
        self._check_columns(table, columns, name)
        return DuckDBLog(self._view(table_sql(table, columns), name), name, columns.levels)

    def bound(self, log: DuckDBLog, m: int, key: str) -> tuple[DuckDBGroup, Tally]:
        """Choose at most m usable records of every user by keyed hash; also return a tally of the rows."""
        try:
            return self._bound(log, m, key)
        except duckdb.IOException:
            whole = without_cut_off_ends(log.source, self._scratch) if log.source else None
            if whole is None:
                raise _unreadable(log.name) from None
            source, cut_off = whole
            return self.bound(replace(self.read(source), cut_off=cut_off), m, key)
        except duckdb.Error as error:
            raise _explained(error, log.name) from None

    def bad_rows(self, source: Source) -> Iterator[dict[str, object]]:
        """The bad rows, so that the log can be fixed: the reason, and the fields or the rejected line."""
        try:
            yield from self._bad_rows(source)
        except duckdb.IOException:
            whole = without_cut_off_ends(source, self._scratch)
            if whole is None:
                raise _unreadable(source.name) from None
            for _ in range(whole[1]):
                yield {"reason": str(Problem.FILE_CUT_OFF)}
            yield from self._bad_rows(whole[0])
        except duckdb.Error as error:
            raise _explained(error, source.name) from None

    def _bad_rows(self, source: Source) -> Iterator[dict[str, object]]:
        log = self.read(source)
        # All bad rows are collected before the first is yielded: if a file turns out to be cut off, nothing was yielded yet.
        bad = self.hold(log.rows.filter(log.rows.problem.notnull()))
        for batch in self._run(bad).to_arrow_reader(_BATCH_ROWS):
            for row in batch.to_pylist():
                yield {"reason": str(Problem(row.pop("problem"))), **row}
        if source.format is not Format.PARQUET:
            yield from RejectedLines(self._connection, log.source or source, log.rejects).lines()

    def report_counts(self, source: Source, digest: ListDigest, cells: int) -> tuple[NDArray[np.int64], Tally]:
        """Count the reports of every cell of the list with this digest; reports for other lists or cells are bad."""
        rejects, name, counts = next(self._names), next(self._names), np.zeros(cells, np.int64)
        problems: Counter[Problem] = Counter()
        with _typed_errors(source.name):
            self._connection.execute(f"CREATE TEMP VIEW {name} AS {reports_sql(source, rejects)}")
            rows = self._run(expressions.cell_counts(expressions.reports(name), digest, cells)).fetchall()
            if source.format is not Format.PARQUET:
                problems.update(RejectedLines(self._connection, source, rejects).problems())
        for cell, problem, reports in rows:
            if problem is None:
                counts[cell] = reports
            else:
                problems[Problem(problem)] += reports
        counted = int(counts.sum())
        return counts, Tally(counted + problems.total(), counted, dict(sorted(problems.items())))

    def progress(self) -> float:
        """The progress of the current statement in per cent; negative if unknown."""
        return self._connection.query_progress()

    def hold(self, expression: ir.Table) -> ir.Table:
        """Run an expression once and store its rows in the engine, on disk if memory is short."""
        name = next(self._names)
        self._connection.execute(f"CREATE TABLE {name} AS {expressions.sql(expression, 'duckdb')}")
        return ibis.table(expression.schema(), name=name)

    def stream(self, expression: ir.Table, order: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """Run an expression and yield its rows in batches. Finish one stream before the next statement."""
        return iter(self._run(expression.order_by(order) if self.ordered else expression).to_arrow_reader(_BATCH_ROWS))

    def over(self, expression: ir.Table, order: tuple[str, ...], work: Work) -> list[pa.Table]:
        """Apply `work` to all rows of an expression, in this process."""
        return [work(self.stream(expression, order))]

    def number(self, expression: ir.IntegerScalar) -> int:
        """Run an expression whose result is one number."""
        return int(self._run(expression).fetchall()[0][0])

    def users(self, names: pa.Array) -> ir.Table:
        """The named users as a table, without nulls."""
        return expressions.group(self._register(pa.table({"user": names.drop_null()}))).select("user")

    def _bound(self, log: DuckDBLog, m: int, key: str) -> tuple[DuckDBGroup, Tally]:
        parts: list[Part] = []
        if m == 1:
            drawn = self.stream(expressions.drawn(log.rows, key, self._record_hash, structs=True), ("user",))
        else:
            parts += self._run(expressions.tally(log.rows)).fetchall()
            drawn = self.stream(expressions.drawn_many(log.rows, m, key, self._record_hash), ("user", "query", "url"))
        # Stream the records through the canonical form into a table. This needs a second connection: the first is streaming.
        name, writer, strays = next(self._names), self._connection.cursor(), list[pa.Array]()
        form = partial(canonical, filtered=log.source is None or log.source.filtered, levels=log.levels)
        batches = (batch for table in usable_records(drawn, parts, strays, form) for batch in table.to_batches())
        writer.register("drawn", pa.RecordBatchReader.from_batches(GROUP, batches))
        writer.execute(f"CREATE TABLE {name} AS FROM drawn")
        writer.close()
        unread = Counter({Problem.FILE_CUT_OFF: log.cut_off})
        if log.source and log.source.format is not Format.PARQUET:
            refused = RejectedLines(self._connection, log.source, log.rejects)
            unread += refused.problems()
            strays.append(refused.users())
        self._add_users(name, strays, m)
        return DuckDBGroup(self, expressions.group(name), m), Tally.of(parts, unread)

    def _add_users(self, group: str, users: list[pa.Array], m: int) -> None:
        """Add the users who appear in bad rows only to a group, without a record."""
        if not sum(map(len, users)):
            return
        named = self._register(pa.table({"user": pa.chunked_array(users, pa.string())}))
        self._connection.execute(f"""
            INSERT INTO {group} SELECT "user", NULL, NULL
            FROM (SELECT DISTINCT "user" FROM {named}) ANTI JOIN {group} USING ("user"), range({m})
        """)  # noqa: S608 (our own names)
        self._connection.unregister(named)

    def _run(self, expression: ir.Expr) -> duckdb.DuckDBPyRelation:
        return self._connection.sql(expressions.sql(expression, "duckdb"))

    def _register(self, data: pa.Table) -> str:
        name = next(self._names)
        self._connection.register(name, data)
        return name

    def _view(self, sql: str, where: str) -> ir.Table:
        name = next(self._names)
        with _typed_errors(where):
            self._connection.execute(f"CREATE TEMP VIEW {name} AS {sql}")
        return expressions.log(name)

    def _check_columns(self, table: str, columns: Columns, where: str) -> None:
        with _typed_errors(where):
            present = self._connection.sql(f"FROM {table}").columns
        check_columns(present, columns, where)

    def _limit(self, memory: str) -> None:
        """Limit the memory of the whole process, however large the log.

        DuckDB gets a quarter of the memory, or half if that is little. The rest is for Python, for batches in transit, and
        for the system's file cache, where it is more useful: DuckDB would fill more memory without becoming faster.
        """
        try:
            ((amount,),) = self._connection.execute("SELECT parse_formatted_bytes(?)", [memory]).fetchall()
        except duckdb.Error:
            raise ParameterError("memory", f"{memory!r} is not an amount of memory", "Use one such as 2GB") from None
        self._connection.execute(f"SET memory_limit = '{max(amount // 4, min(amount // 2, _ENOUGH))}B'")


@dataclass(frozen=True)
class DuckDBGroup(TableGroup):
    """The records of one group in DuckDB. Its members are determined once, and stored."""

    engine: DuckDBEngine

    def split(self, share: Fraction, key: str, purpose: str) -> tuple[DuckDBGroup, DuckDBGroup]:
        """Split the users in two by keyed hash: about this share, and the rest."""
        return self._split_by(expressions.drawn_users(self.table, share, key, purpose))

    def part(self, users: pa.Array) -> tuple[DuckDBGroup, DuckDBGroup]:
        """Split the users in two: the named ones, and the rest."""
        return self._split_by(self.table.user.isin(self.engine.users(users).user))

    def _split_by(self, predicate: ir.BooleanValue) -> tuple[DuckDBGroup, DuckDBGroup]:
        """Split the users by a predicate, which is evaluated once and stored."""
        held = self.engine.hold(self.table.mutate(inside=predicate))
        inside, outside = (held.filter(chosen).drop("inside") for chosen in (held.inside, ~held.inside))
        return DuckDBGroup(self.engine, inside, self.slots), DuckDBGroup(self.engine, outside, self.slots)


def _own_hash(rows: ir.Table, key: str) -> ir.Value:
    # DuckDB finds the minimum fast for signed numbers only. Ibis assumes that the shifted number is already signed and would
    # omit the cast, hence the first cast.
    return (_hash(key, rows.user, rows.query, rows.url) >> 1).cast("uint64").cast("int64")


@contextmanager
def _typed_errors(name: str) -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise _explained(error, name) from None


def _explained(error: duckdb.Error, name: str) -> BlenderError:
    """The error that replaces one of DuckDB's."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return ParameterError("memory", f"it is not enough for {name}", "Allow more, such as 2GB, or leave it out")
    return _unreadable(name)


def _unreadable(name: str) -> LogError:
    """The error that replaces DuckDB's, which quotes the rows that cause it."""
    return LogError(
        name, "cannot be read: a file is damaged, or not in the expected format", "Check the files, or pass --format"
    )
