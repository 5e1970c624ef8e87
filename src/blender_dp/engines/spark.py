"""The engine for logs that are too large for one machine: Spark, on one machine or many.

Every worker needs blender-dp with the extra `spark`, and access to the log's files under the same paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

import ibis  # noqa: TID251 (this is where it belongs)
import ibis.expr.types as ir  # noqa: TID251 (this is where it belongs)
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from blender_dp.engines import expressions
from blender_dp.engines.base import Work
from blender_dp.engines.groups import TableGroup
from blender_dp.engines.spark_workers import ENCODED, GROUP, decoded_table, sent_rows, usable_records, work_on_part
from blender_dp.errors import LogError
from blender_dp.extras import needs
from blender_dp.logs.canonical_columns import canonical
from blender_dp.logs.compression import without_cut_off_ends
from blender_dp.logs.encoding import as_utf8
from blender_dp.logs.header import check_columns, header_of
from blender_dp.logs.readers import spark as spark_reader
from blender_dp.logs.source import PLAIN_COLUMNS, UTF8, Columns, Format, Source
from blender_dp.logs.tally import Problem, Tally
from blender_dp_device.digests import ListDigest

needs("spark")

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, functions

from blender_dp.engines.spark_rows import StoredRows, typed_errors, unreadable
from blender_dp.engines.spark_session import LARGEST_PIECE, OPEN_COST, start_session

_BATCH_ROWS = 1 << 16
_SETTINGS = {
    "spark.sql.variable.substitute": "false",  # otherwise a key that contains ${...} would be changed
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(_BATCH_ROWS),
    "spark.sql.files.maxPartitionNum": str(2**31 - 1),  # together with a high cost of opening: see `readers.spark.FIRST`
}


@ibis.udf.scalar.builtin(name="xxhash64")  # type: ignore[untyped-decorator]
def _hash(key: str, user: str, query: str, url: str) -> int:  # type: ignore[empty-body]
    """Spark's own hash."""


@dataclass(frozen=True)
class SparkLog:
    """A log that Spark can read: its rows and its source."""

    rows: ir.Table
    name: str
    levels: int
    source: Source | None = None
    cut_off: int = 0


class SparkEngine:
    """Reads, bounds, splits and counts with Spark.

    Ibis generates the statements, Spark runs them. Only sums and the results of `Work` come back to this process.
    """

    def __init__(
        self,
        session: SparkSession | None = None,
        *,
        master: str = "local[*]",
        portable: bool = False,
        ordered: bool = False,
        memory: str | None = None,
    ) -> None:
        """Use the given session's cluster, or start Spark with this master and this much memory (such as "2GB").

        With `portable`, a key chooses the same records as on any other engine; Spark's own hash is faster. With
        `ordered`, rows arrive in one order and in this process, so that a seeded simulation is repeatable: this is for small
        logs.
        """
        self._scratch = mkdtemp(prefix="blender-dp-")  # readable by this user only
        finalize(self, rmtree, self._scratch, ignore_errors=True)
        # A separate session on the same cluster, so that the settings and views of other sessions are not changed.
        self._session = (session or start_session(master, memory, self._scratch)).newSession()
        for name, value in _SETTINGS.items():
            self._session.conf.set(name, value)
        self._session.conf.set(OPEN_COST, str(self._session.conf.get(LARGEST_PIECE)))
        self.ordered = ordered
        self._record_hash = expressions.portable_hash if portable else _own_hash
        self._names = (f"blender_{number}" for number in count())

    def read(self, source: Source) -> SparkLog:
        """Open log files. Little more than their headers is read yet."""
        source = self._in_utf8(source)
        with typed_errors(source.name):
            frame = self._open(source)
            if source.format.has_header:
                frame, source = self._below_header(frame, source)
        if source.format is Format.PARQUET:
            check_columns(frame.columns, source.columns, source.name)
        if source.format is Format.JSONL:
            frame = self._json(frame, spark_reader.json_log(source.columns), spark_reader.LOG_ROWS)
        with typed_errors(source.name):
            rows = self._log(spark_reader.rows_sql(source, self._view(frame)))
        return SparkLog(rows, source.name, source.columns.levels, source)

    def load(self, data: pa.Table, columns: Columns = PLAIN_COLUMNS, name: str = "table") -> SparkLog:
        """Send a table to Spark. It must fit into this process."""
        check_columns(data.column_names, columns, name)
        with typed_errors(name):
            floats = {role for role, column in columns.named.items() if pa.types.is_floating(data[column].type)}
            kinds = {role: "double" if role in floats else "string" for role in columns.named}
            table = pa.table({role: data[column].cast(kinds[role]) for role, column in columns.named.items()})
            frame = self._session.createDataFrame(table, ", ".join(f"{role} {kind}" for role, kind in kinds.items()))
            renamed = PLAIN_COLUMNS if columns.levels == 2 else replace(PLAIN_COLUMNS, url=None)
            return SparkLog(self._log(spark_reader.table_sql(self._view(frame), renamed)), name, columns.levels)

    def bound(self, log: SparkLog, m: int, key: str) -> tuple[TableGroup, Tally]:
        """Choose at most m usable records of every user by keyed hash; also return a tally of the rows."""
        try:
            return self._bound(log, m, key)
        except (PySparkException, Py4JError):
            whole = without_cut_off_ends(log.source, self._scratch) if log.source else None
            if whole is None:
                raise unreadable(log.name) from None
        source, cut_off = whole
        return self.bound(replace(self.read(source), cut_off=cut_off), m, key)

    def report_counts(self, source: Source, digest: ListDigest, cells: int) -> tuple[NDArray[np.int64], Tally]:
        """Count the reports of every cell of the list with this digest; reports for other lists or cells are bad."""
        counts, problems = np.zeros(cells, np.int64), Counter[Problem]()
        with typed_errors(source.name):
            frame = self._open(source)
            if source.format is not Format.PARQUET:
                frame = self._json(frame, spark_reader.JSON_REPORTS, spark_reader.REPORT_ROWS)
            view = self._view(self._session.sql(spark_reader.reports_sql(source, self._view(frame))))
            rows = self._frame(expressions.cell_counts(expressions.reports(view), digest, cells)).collect()
        for cell, problem, reports in rows:
            if problem is None:
                counts[cell] = reports
            else:
                problems[Problem(problem)] += reports
        counted = int(counts.sum())
        return counts, Tally(counted + problems.total(), counted, dict(sorted(problems.items())))

    def bad_rows(self, source: Source) -> Iterator[dict[str, object]]:
        """The bad rows, so that the log can be fixed: the reason, and the fields, if any."""
        try:
            bad, cut_off = self._bad_rows(source), 0
        except (PySparkException, Py4JError):
            whole = without_cut_off_ends(source, self._scratch)
            if whole is None:
                raise unreadable(source.name) from None
            with typed_errors(source.name):
                bad, cut_off = self._bad_rows(whole[0]), whole[1]
        for _ in range(cut_off):
            yield {"reason": str(Problem.FILE_CUT_OFF)}
        with typed_errors(source.name):
            for row in bad.frame.toLocalIterator():
                fields = row.asDict()
                yield {"reason": str(Problem(fields.pop("problem"))), **fields}

    def progress(self) -> float:
        """The finished share of the tasks that Spark has started, in per cent; negative if there are no tasks."""
        try:
            tracker = self._session.sparkContext.statusTracker()
            stages = [stage for number in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(number))]
        except Py4JError:
            return -1
        tasks = sum(stage.numTasks for stage in stages)
        return 100 * sum(stage.numCompletedTasks for stage in stages) / tasks if tasks else -1

    def over(self, expression: ir.Table, order: tuple[str, ...], work: Work) -> list[pa.Table]:
        """Apply `work` to every part of an expression's rows, on the workers, and collect the results.

        Spark may repeat the work on a part if a worker is lost. It returns one result for every part, and they are collected
        only once: of everything that is drawn at random inside, only one outcome is ever seen.
        """
        if self.ordered:
            return [work(self._ordered(expression, order))]
        with typed_errors("log"):
            parts = self._frame(expression).mapInArrow(partial(work_on_part, work=work), ENCODED).collect()
        return [decoded_table(part) for part in parts] or [work(iter(()))]

    def number(self, expression: ir.IntegerScalar) -> int:
        """Run an expression whose result is one number."""
        with typed_errors("log"):
            return int(self._frame(expression).collect()[0][0])

    def users(self, names: pa.Array) -> ir.Table:
        """The named users as a table, without nulls."""
        named = pa.table({"user": names.cast(pa.string()).drop_null()})
        return expressions.group(self._view(self._session.createDataFrame(named, "user string"))).select("user")

    def _bound(self, log: SparkLog, m: int, key: str) -> tuple[TableGroup, Tally]:
        unread = {Problem.FILE_CUT_OFF: log.cut_off}
        if m == 1:
            stored = self._stored(expressions.drawn(log.rows, key, self._record_hash, structs=True), log)
            known = "count(CASE WHEN problem IS NOT NULL THEN user END)"
            sums = [functions.expr(sum_) for sum_ in ("sum(rows)", "sum(records)", known)]
            parts = stored.frame.groupBy("problem").agg(*sums).collect()
        else:
            slots = ibis.literal(m, "int64")  # of the required type, because Spark does not cast an exploded value
            stored = self._stored(expressions.drawn_many(log.rows, slots, key, self._record_hash), log)
            parts = self._frame(expressions.tally(log.rows)).collect()
        good, held = stored.frame.where("user IS NOT NULL").select(*GROUP), [stored]
        if m == 1:
            good = stored.frame.where("user IS NOT NULL AND problem IS NULL").select(*GROUP)
            bad = stored.frame.where("user IS NOT NULL AND problem IS NOT NULL")
            if any(known for *_, known in parts):  # users of bad rows, who count even if they have no other rows
                held.append(StoredRows(bad.select("user").distinct().join(good, "user", "left_anti")))
                # In SQL: `union` would change the plan of the good rows, so Spark would not recognise the stored ones.
                more = f"SELECT user, NULL, NULL FROM {self._view(held[-1].frame)}"  # noqa: S608 (a name of our own)
                good = self._session.sql(f"TABLE {self._view(good)} UNION ALL {more}")
        tally = Tally.of(((problem, rows, records) for problem, rows, records, *_ in parts), unread)
        return TableGroup(self, expressions.group(self._view(good)), m, held), tally

    def _stored(self, drawn: ir.Table, log: SparkLog) -> StoredRows:
        """The canonical records, made and stored on the workers, because groups are used several times."""
        frame, filtered = self._frame(drawn), log.source is None or log.source.filtered
        form = partial(canonical, filtered=filtered, levels=log.levels)
        return StoredRows(frame.mapInArrow(partial(usable_records, form=form), frame.schema))

    def _bad_rows(self, source: Source) -> StoredRows:
        """All bad rows, collected before the first is yielded: if a file turns out to be cut off, none was yielded."""
        log = self.read(source)
        bad = StoredRows(self._frame(log.rows.filter(log.rows.problem.notnull())))
        bad.frame.count()
        return bad

    def _open(self, source: Source) -> DataFrame:
        paths = [file if isinstance(file, str) else spark_reader.path(str(file.absolute())) for file in source.files]
        reader = self._session.read
        frame = reader.parquet(*paths) if source.format is Format.PARQUET else reader.text(paths)
        if len(frame.inputFiles()) < len(paths):
            problem = "Spark ignores a file because of its name"
            raise LogError(source.name, problem, "Rename files that start with a dot or an underscore")
        return frame

    def _in_utf8(self, source: Source) -> Source:
        if source.encoding != UTF8 and not str(self._session.sparkContext.master).startswith("local"):
            problem = f"workers read UTF-8, not {source.encoding}"
            raise LogError(source.name, problem, "Convert the files to UTF-8, or use --engine duckdb")
        return as_utf8(source, self._scratch)

    def _below_header(self, frame: DataFrame, source: Source) -> tuple[DataFrame, Source]:
        """The lines without the first line of every file. If the header is not known yet, it is read here."""
        lines = frame.selectExpr("value", f"{spark_reader.FIRST} AS first")
        if source.header:
            return lines.where("NOT first"), source
        row = lines.where("first").first()  # reads one file only
        line = row["value"] if row else ""
        header = header_of(line, source, source.name)
        return lines.where(spark_reader.below(line)), replace(source, header=header)

    def _json(self, frame: DataFrame, query: str, schema: str) -> DataFrame:
        """The rows that the workers read from JSON lines."""
        lines = self._session.sql(spark_reader.lines_sql(self._view(frame)))
        return lines.mapInArrow(partial(spark_reader.json_rows, query=query), schema)

    def _ordered(self, expression: ir.Table, order: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """Yield all rows in order, in this process: a seeded stream of random words cannot be sent to workers."""
        frame = self._frame(expression).coalesce(1)
        frame = frame.sortWithinPartitions(*(frame[name].asc_nulls_last() for name in order))
        with typed_errors("log"):
            for part in frame.mapInArrow(sent_rows, ENCODED).toLocalIterator():
                yield from decoded_table(part).to_batches()

    def _frame(self, expression: ir.Expr) -> DataFrame:
        return self._session.sql(expressions.sql(expression, "pyspark"))

    def _log(self, sql: str) -> ir.Table:
        return expressions.log(self._view(self._session.sql(sql)))

    def _view(self, frame: DataFrame) -> str:
        name = next(self._names)
        frame.createTempView(name)
        return name


def _own_hash(rows: ir.Table, key: str) -> ir.Value:
    return _hash(key, rows.user, rows.query, rows.url)
