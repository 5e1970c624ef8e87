"""Everything that an engine counts in a log, as digests: `python -m benchmarks.once.counts ENGINE LOG` prints JSON.

With the portable hash every engine has to count the same. Nothing is left out or rounded: a digest is of every row, in
order.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pyarrow as pa

from benchmarks.race import CORES
from blender_dp.engines import DuckDBEngine, Engine
from blender_dp.logs import find

KEY = "benchmark"
RECORDS = pa.schema([(name, pa.string()) for name in ("user", "query", "url")])
COUNTS = pa.schema([("query", pa.string()), ("url", pa.string()), ("count", pa.int64())])


def engine(name: str) -> Engine:
    if name == "duckdb":
        return DuckDBEngine(portable=True)
    from blender_dp.engines.spark import SparkEngine  # noqa: PLC0415 (may be missing)

    return SparkEngine(master=f"local[{CORES}]", portable=True)


def counts(name: str, log: Path) -> dict[str, str]:
    """The tally, every user's record, every record's count, and who is in which group."""
    counting = engine(name)
    group, tally = counting.bound(counting.read(find(log)), 1, KEY)
    inside, outside = group.split(Fraction(1, 20), KEY, "opt-in")
    return {
        "tally": repr(tally),
        "users": str(group.users),
        "records": _digest(group.over_records(_collected(RECORDS))),
        "counts": _digest(group.over_record_counts(_collected(COUNTS))),
        "split, one side": _digest(inside.over_records(_collected(RECORDS))),
        "split, the other": _digest(outside.over_records(_collected(RECORDS))),
    }


def _collected(schema: pa.Schema):  # noqa: ANN202 (a work, which has to be sent to workers)
    def work(batches: Iterator[pa.RecordBatch]) -> pa.Table:
        return pa.Table.from_batches([batch.select(schema.names).cast(schema) for batch in batches], schema)

    return work


def _digest(parts: list[pa.Table]) -> str:
    table = pa.concat_tables(parts)
    rows = table.sort_by([(name, "ascending") for name in table.column_names]).to_pylist()
    return f"{len(rows)} {hashlib.sha256(json.dumps(rows).encode()).hexdigest()}"


if __name__ == "__main__":
    print(json.dumps(counts(sys.argv[1], Path(sys.argv[2]))))
