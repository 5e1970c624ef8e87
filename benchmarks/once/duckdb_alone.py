"""The limit: DuckDB counts the records and returns only how many there are."""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchmarks.once import run

# The sum keeps the optimiser from dropping the counts; no form that still counts every record is cheaper.
_COUNT = "SELECT count(*), sum(n) FROM (SELECT query, url, count(*) AS n FROM read_parquet(?) GROUP BY query, url)"


def distinct(log: Path) -> int:
    """How many distinct records there are."""
    return int(duckdb.connect().execute(_COUNT, [str(log)]).fetchall()[0][0])


if __name__ == "__main__":
    run(distinct)
