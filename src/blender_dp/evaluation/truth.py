"""The true shares of a population: not private, for experiments only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from blender_dp.logs.tables import TableLike, as_table

Pair = tuple[str, str | None]


@dataclass(frozen=True)
class Truth:
    """The number of users who have each record."""

    users: int
    records: dict[Pair, int]

    @classmethod
    def of(cls, data: TableLike) -> Truth:
        """Count a table with one canonical record per user (columns query and url); a missing record is not counted.

        A table without any URL, or without that column, contains single items: their url is None.
        """
        table = as_table(data, "truth")
        columns = ["query", "url"] if _has_urls(table) else ["query"]
        counts = table.select(columns).drop_null().group_by(columns).aggregate([([], "count_all")])
        urls = counts["url"].to_pylist() if "url" in columns else [None] * counts.num_rows
        names = zip(counts["query"].to_pylist(), urls, strict=True)
        return cls(table.num_rows, dict(zip(names, counts["count_all"].to_pylist(), strict=True)))

    @cached_property
    def queries(self) -> dict[str, int]:
        """The number of users who have each query."""
        counts: dict[str, int] = {}
        for (query, _), count in self.records.items():
            counts[query] = counts.get(query, 0) + count
        return counts

    @cached_property
    def urls(self) -> dict[str, dict[str, int]]:
        """The number of users who have each URL of a query."""
        counts: dict[str, dict[str, int]] = {}
        for (query, url), count in self.records.items():
            if url is not None:
                counts.setdefault(query, {})[url] = count
        return counts

    def query_share(self, query: str) -> float:
        """The share of all users who have the query."""
        return self.queries.get(query, 0) / self.users

    def record_share(self, record: Pair) -> float:
        """The share of all users who have the record."""
        return self.records.get(record, 0) / self.users


def _has_urls(table: pa.Table) -> bool:
    return "url" in table.column_names and table["url"].null_count < table.num_rows
