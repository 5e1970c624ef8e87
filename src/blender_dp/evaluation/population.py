"""A population as counts: every distinct record with the number of users who have it. Not private, for experiments only.

Experiments need neither names nor users, only counts: with them, thousands of collections fit into minutes. All
randomness here chooses who is in which group, as chance would; none of it protects anyone, so its quality does not matter
for privacy. It still comes from seeded streams of `Entropy`, so that every experiment can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from blender_dp.logs.synthetic import Shape, drawn_records, record_names
from blender_dp.logs.tables import TableLike, as_table
from blender_dp.sampling import Entropy
from blender_dp.sampling.discrete import integers_below
from blender_dp.stages import Floats, Integers
from blender_dp_device.records.checks import at_least_one

Name = tuple[str, str | None]
Names = Callable[[Integers], Sequence[Name]]


@dataclass(frozen=True, eq=False)
class Population:
    """Every distinct record with its count. Records are numbered, and those of one query are neighbours."""

    users: int
    """All users, also those without a record."""
    query_of: Integers
    """The number of every record's query; never decreases."""
    counts: Integers
    """The number of users who have each record."""
    names: Names
    """The names of some records, by number; a single item's URL is None."""
    levels: int = 2
    """1 for single items, 2 for queries with URLs."""

    @classmethod
    def of(cls, data: TableLike) -> Population:
        """Count a table with one canonical record per user, as `Truth.of` does."""
        table = as_table(data, "population")
        has_urls = "url" in table.column_names and table["url"].null_count < table.num_rows
        columns = ["query", "url"] if has_urls else ["query"]
        counted = table.select(columns).drop_null().group_by(columns).aggregate([([], "count_all")])
        return cls.of_counts(counted.rename_columns([*columns, "count"]), table.num_rows)

    @classmethod
    def of_shape(cls, shape: Shape, seed: int = 0) -> Population:
        """Draw every user's record independently: the same counts as those of `logs.synthetic.population`."""
        query, url = drawn_records(shape, seed)
        base = int(url.max()) + 1
        keys, counts = np.unique(query * base + url, return_counts=True)

        def names(records: Integers) -> Sequence[Name]:
            named = record_names(keys[records] // base, keys[records] % base)
            return list(zip(named["query"].to_pylist(), named["url"].to_pylist(), strict=True))

        return cls(shape.users, keys // base, counts, names)

    @classmethod
    def of_counts(cls, table: pa.Table, users: int) -> Population:
        """Use a table of distinct records: columns query, url (null, or left out, for single items) and count."""
        held = table.filter(pa.array(table["count"].to_numpy() > 0))
        query = held["query"].combine_chunks().dictionary_encode()
        numbers = query.indices.to_numpy().astype(np.int64)
        order = np.argsort(numbers, kind="stable")
        has_urls = "url" in held.column_names and held["url"].null_count < held.num_rows
        columns = ["query", "url"] if has_urls else ["query"]

        def names(records: Integers) -> Sequence[Name]:
            chosen = held.select(columns).take(pa.array(order[records]))
            urls = chosen["url"].to_pylist() if has_urls else [None] * chosen.num_rows
            return list(zip(chosen["query"].to_pylist(), urls, strict=True))

        counts = held["count"].to_numpy().astype(np.int64)[order]
        return cls(max(users, int(counts.sum())), numbers[order], counts, names, 2 if has_urls else 1)

    def resized(self, users: int, seed: int = 0) -> Population:
        """The same shares with another number of users, each of whom copies a random user of this population.

        A record that only one user had may then have several: for many more users than before, the tail is too short.
        """
        drawn = integers_below(self.users, at_least_one(users, "users"), Entropy.seeded(f"resized {seed}"))
        records = self.record_of(drawn)
        held, counts = np.unique(records[records >= 0], return_counts=True)
        names = self.names
        return Population(users, self.query_of[held], counts, lambda records: names(held[records]), self.levels)

    @cached_property
    def shares(self) -> Floats:
        """The share of all users who have each record."""
        shares: Floats = self.counts / self.users
        return shares

    @cached_property
    def query_counts(self) -> Integers:
        """The number of users who have each query, by its number."""
        return np.bincount(self.query_of, weights=self.counts).astype(np.int64)

    @cached_property
    def top_queries(self) -> Integers:
        """The counts of the most popular queries, in descending order."""
        return np.sort(self.query_counts)[::-1]

    @cached_property
    def ends(self) -> Integers:
        """One more than the last user of every record, if users are numbered in the order of their records."""
        return np.cumsum(self.counts)

    def record_of(self, users: Integers) -> Integers:
        """Every user's record; -1 if the user has none."""
        record: Integers = np.searchsorted(self.ends, users, side="right")
        return np.where(record < self.counts.size, record, -1)
