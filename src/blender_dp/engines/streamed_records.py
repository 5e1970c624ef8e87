"""The records of a stream of rows, on their way from one statement of DuckDB to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

GROUP = pa.schema([(name, pa.string()) for name in ("user", "query", "url")])
"""The columns of a group."""

Part = tuple[int | None, int, int]
"""A problem or None, and the numbers of rows and of records with it."""


def usable_records(
    drawn: Iterable[pa.RecordBatch],
    parts: list[Part],
    strays: list[pa.Array],
    form: Callable[[pa.Table], pa.Table],
) -> Iterator[pa.Table]:
    """Yield the users' canonical records. If the rows have a problem column, their counts are added to `parts` on the way,
    and the users of bad rows, who may also have good rows, to `strays`.
    """
    for batch in drawn:
        table = pa.Table.from_batches([batch])
        if "problem" in table.column_names:
            sums = table.group_by("problem").aggregate([("rows", "sum"), ("records", "sum")]).to_pylist()
            parts += [(part["problem"], part["rows_sum"], part["records_sum"]) for part in sums]
            bad = pc.is_valid(table["problem"])
            strays += table["user"].filter(bad).drop_null().cast(pa.string()).chunks
            table = table.filter(pc.invert(bad))
        known = table.select(GROUP.names).filter(pc.is_valid(table["user"]))
        yield form(known).cast(GROUP)
