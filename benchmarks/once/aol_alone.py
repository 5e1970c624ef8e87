"""The limit for an AOL log: one bare pass of DuckDB that chooses a record per user and counts the records."""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchmarks.once import run

_QUERY = """
SELECT count(*), sum(n) FROM (
    SELECT query, url, count(*) AS n FROM (
        SELECT AnonID, any_value(Query) AS query, any_value(ClickURL) AS url
        FROM read_csv(?, auto_detect = false, header = true, delim = '\t', quote = '', escape = '', columns = {
            AnonID: 'VARCHAR', Query: 'VARCHAR', QueryTime: 'VARCHAR', ItemRank: 'VARCHAR', ClickURL: 'VARCHAR'})
        WHERE ClickURL IS NOT NULL GROUP BY AnonID
    ) GROUP BY query, url
)
"""


def users(log: Path) -> int:
    """How many users have a click."""
    return int(duckdb.connect().execute(_QUERY, [str(log / "*.txt")]).fetchall()[0][1])


if __name__ == "__main__":
    run(users)
