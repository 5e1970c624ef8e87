"""The limit for a Yandex log: a bare pass of DuckDB that joins clicks to users, queries and results, and counts the records.

A record's URL has the domain that the results page gives the clicked one, so the page's results have to be looked through.
Of several forms this was the fastest: read the file twice and stream the pages past the clicks, with ids as numbers.
Joining with materialised pages, with their results as one string, took twice as long.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchmarks.once import run

_RESULTS = [f"c{i}" for i in range(6, 16)]
_TYPES = {"c0": "BIGINT", "c3": "BIGINT", "c4": "BIGINT"}
_COLUMNS = ", ".join(f"c{i}: '{_TYPES.get(f'c{i}', 'VARCHAR')}'" for i in range(16))
_READ = f"""read_csv($log, auto_detect = false, header = false, delim = '\t', quote = '', escape = '', null_padding = true,
    strict_mode = false, columns = {{{_COLUMNS}}})"""
_QUERY = f"""
WITH lines AS MATERIALIZED (
    SELECT c0 AS session, c1 = 'M' AS opens, c3 AS page, c4 AS id FROM {_READ} WHERE c1 = 'M' OR c2 = 'C'
),
clicks AS (
    SELECT c.session, c.page, c.id || ',' AS start, m.page AS user
    FROM lines c JOIN lines m ON m.session = c.session AND m.opens WHERE NOT c.opens
),
records AS (
    SELECT user, c4 AS query, CASE {" ".join(f"WHEN starts_with({c}, start) THEN {c}" for c in _RESULTS)} END AS url
    FROM {_READ} JOIN clicks ON c0 = session AND c3 = page WHERE c2 IN ('Q', 'T')
)
SELECT count(*), sum(n) FROM (
    SELECT query, url, count(*) AS n FROM (
        SELECT user, any_value(query) AS query, any_value(url) AS url FROM records WHERE url IS NOT NULL GROUP BY user
    ) GROUP BY query, url
)
"""  # noqa: S608 (our own names)


def users(log: Path) -> int:
    """How many users have a click on a result."""
    return int(duckdb.connect().execute(_QUERY, {"log": str(log)}).fetchall()[0][1])


if __name__ == "__main__":
    run(users)
