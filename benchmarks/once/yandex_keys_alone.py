"""What the join by keys alone takes on a Yandex log: clicks to queries and users, but not to the results of their page."""

from __future__ import annotations

from pathlib import Path

import duckdb

from benchmarks.once import run

_QUERY = """
WITH lines AS MATERIALIZED (
    SELECT c0 AS session, CASE WHEN c1 = 'M' THEN 'M' ELSE c2 END AS kind, c3 AS page, c4 AS id
    FROM read_csv(?, auto_detect = false, header = false, delim = '\t', quote = '', escape = '', null_padding = true,
        strict_mode = false, columns = {c0: 'VARCHAR', c1: 'VARCHAR', c2: 'VARCHAR', c3: 'VARCHAR', c4: 'VARCHAR',
            c5: 'VARCHAR', c6: 'VARCHAR', c7: 'VARCHAR', c8: 'VARCHAR', c9: 'VARCHAR', c10: 'VARCHAR', c11: 'VARCHAR',
            c12: 'VARCHAR', c13: 'VARCHAR', c14: 'VARCHAR', c15: 'VARCHAR'})
)
SELECT count(*), sum(n) FROM (
    SELECT query, url, count(*) AS n FROM (
        SELECT m.page AS user, any_value(q.id) AS query, any_value(c.id) AS url
        FROM lines c JOIN lines q ON q.session = c.session AND q.page = c.page AND q.kind IN ('Q', 'T')
        JOIN lines m ON m.session = c.session AND m.kind = 'M'
        WHERE c.kind = 'C' GROUP BY user
    ) GROUP BY query, url
)
"""


def users(log: Path) -> int:
    """How many users have a click."""
    return int(duckdb.connect().execute(_QUERY, [str(log)]).fetchall()[0][1])


if __name__ == "__main__":
    run(users)
