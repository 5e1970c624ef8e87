"""What Spark's workers run: functions of Arrow batches that need neither Spark nor the driver's state."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import Any

import pyarrow as pa

from blender_dp.engines.base import Work

ENCODED = "part binary"
"""The schema of encoded tables, for Spark."""

GROUP = ("user", "query", "url")
"""The columns of a group."""


def usable_records(batches: Iterator[pa.RecordBatch], *, form: Callable[[pa.Table], pa.Table]) -> Iterator[pa.RecordBatch]:
    """The users' canonical records, on a worker; the other columns stay as they are."""
    _freeze_modules()
    for batch in batches:
        table = pa.Table.from_batches([batch])
        forms = form(table.select(GROUP))
        for name in GROUP:
            table = table.set_column(table.column_names.index(name), name, forms[name])
        yield from table.to_batches()


def work_on_part(batches: Iterator[pa.RecordBatch], *, work: Work) -> Iterator[pa.RecordBatch]:
    """The result for one part, on a worker; nothing for a part without rows."""
    _freeze_modules()
    filled = (batch for batch in batches if batch.num_rows)
    for first in filled:
        yield encoded_table(work(chain([first], filled)))


def sent_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows themselves, on a worker."""
    return (encoded_table(pa.Table.from_batches([batch])) for batch in batches if batch.num_rows)


def encoded_table(table: pa.Table) -> pa.RecordBatch:
    """A table with any schema, encoded as one row."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return pa.RecordBatch.from_pydict({"part": pa.array([sink.getvalue().to_pybytes()], pa.binary())})


def decoded_table(row: Any) -> pa.Table:  # noqa: ANN401 (a Spark row)
    """The table in an encoded row."""
    return pa.ipc.open_stream(row["part"]).read_all()


@cache
def _freeze_modules() -> None:
    """Exclude what a worker has loaded from garbage collection: Spark starts one after every task, which would search it."""
    gc.freeze()
