"""Where the population of an experiment comes from: a shape, a release or a log."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blender_dp.errors import GroupError, ParameterError
from blender_dp.evaluation.population import Name, Population
from blender_dp.evaluation.shapes import is_shape, shape_of
from blender_dp.logs import PLAIN_READING, Reading, Source, find
from blender_dp.logs.bad_rows import check_tally, largest_bad_share
from blender_dp.release import Release
from blender_dp.stages import Integers

if TYPE_CHECKING:
    from blender_dp.engines import Engine

_COUNTED = pa.schema([("query", pa.string()), ("url", pa.string()), ("count", pa.int64())])


@dataclass(frozen=True)
class PopulationSource:
    """The name of a shape, or the path of a release or a log."""

    name: str
    users: int | None = None
    """By default as many as the shape, release or log has."""
    reading: Reading = PLAIN_READING
    """How to read a log."""

    @property
    def varies(self) -> bool:
        """Whether every seed draws another population: so with shapes. A release or a log is always the same one."""
        return is_shape(self.name)

    @property
    def is_release(self) -> bool:
        """Whether it is a release, not a log or a shape."""
        return not self.varies and self._release.suffix == ".json" and self._release.is_file()

    @property
    def _release(self) -> Path:
        path = Path(self.name)
        return path / "release.json" if path.is_dir() else path

    def fingerprint(self) -> str:
        """A text that changes when the files change; empty for a shape."""
        if self.varies:
            return ""
        parts = glob.glob(self.name, recursive=True) if glob.has_magic(self.name) else [self.name]  # noqa: PTH207
        files = [file for part in sorted(parts) for file in (sorted(Path(part).rglob("*")) or [Path(part)])]
        stats = [(str(one), one.stat()) for one in files if one.is_file()]
        return " ".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)

    def population(self, seed: int = 0, *, listed_only: bool = False) -> Population:
        """The users' records as counts; of a release, if so chosen, only those of listed queries."""
        if self.varies:
            return Population.of_shape(shape_of(self.name, self.users), seed)
        whole = self._read(listed_only=listed_only)
        return whole if self.users is None else whole.resized(self.users, seed)

    def _read(self, *, listed_only: bool) -> Population:
        if self.is_release:
            return population_of_release(Release.load(self._release), listed_only=listed_only)
        if not Path(self.name).exists() and "*" not in self.name and "://" not in self.name:
            fix = "Use aol, yandex, zipf:EXPONENT, a release or a log"
            raise ParameterError("shape", f"{self.name!r} is neither a shape nor a file", fix)
        return population_of_log(self.reading.find(self.name))


def population_of_log(
    log: Source | Path | str, *, key: str = "evaluation", engine: Engine | None = None, max_bad: str = "0.01"
) -> Population:
    """Choose one record per user of a log, by keyed hash, and count them. The numbers are exact: never publish them."""
    from blender_dp.engines import DuckDBEngine  # noqa: PLC0415 (slow to load, and shapes do not need it)

    max_share = largest_bad_share(max_bad)
    counting = engine or DuckDBEngine(ordered=True)
    group, tally = counting.bound(counting.read(log if isinstance(log, Source) else find(log)), 1, key)
    check_tally(tally, max_share, "log")
    counted = pa.concat_tables([_COUNTED.empty_table(), *group.over_record_counts(_whole)])
    if not counted.num_rows:
        raise GroupError("users", "none of them has a usable record", "Check the columns and the format of the log")
    return Population.of_counts(counted, group.users)


def population_of_release(release: Release, *, listed_only: bool = False) -> Population:
    """The population that a release describes, in whole users.

    A release does not say what is behind ⋆, so everyone there gets a record that no one else has. A list with more queries
    or a lower threshold than that of the release is therefore predicted to be too short. With `listed_only`, users without
    a listed query have no record at all: of more users than the release's, many would have the same made-up one.
    """
    users = sum(group.users for group in release.manifest.groups)
    levels, left = release.head_list.levels, users
    rows = sorted(release.records, key=lambda row: (row.query is None, row.query or ""))  # the last one is ⟨⋆, ⋆⟩
    named, counts = list[Name | None](), list[int]()
    for row in rows:
        counts.append(left if row.query is None else min(round(max(row.share, 0.0) * users), left))
        left -= counts[-1]
        named.append(None if row.query is None or (levels == 2 and row.url is None) else (row.query, row.url))
    if listed_only:
        counts[-1] = 0
    return _population(users, levels, [row.query for row in rows], named, np.array(counts))


def _population(
    users: int, levels: int, queries: Sequence[str | None], named: Sequence[Name | None], counts: Integers
) -> Population:
    """One record for every row with a name, and one for every user of a row without: that name is made when it is needed."""
    own = np.array([name is None for name in named])
    row_of = np.repeat(np.arange(counts.size), np.where(own, counts, counts > 0))
    numbers = {query: number for number, query in enumerate(dict.fromkeys(queries))}
    query_of = np.array([numbers[query] for query in queries])[row_of]
    unlisted = row_of == counts.size - 1
    query_of[unlisted] += np.arange(int(unlisted.sum()))  # not even the query is listed, so everyone has another one

    def name(row: int, record: int) -> Name:
        return named[row] or (queries[row] or f"unlisted {record}", f"unlisted {record}" if levels == 2 else None)

    def names(records: Integers) -> Sequence[Name]:
        return [name(row, record) for row, record in zip(row_of[records].tolist(), records.tolist(), strict=True)]

    return Population(users, query_of, np.where(own, 1, counts)[row_of], names, levels)


def _whole(batches: Iterator[pa.RecordBatch]) -> pa.Table:
    """All distinct records of one part, as one table."""
    return pa.concat_tables([_COUNTED.empty_table(), *(pa.Table.from_batches([batch]).cast(_COUNTED) for batch in batches)])
