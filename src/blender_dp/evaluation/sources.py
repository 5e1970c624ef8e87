"""Where the population of an experiment comes from: a shape, a release or a log."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from blender_dp.errors import GroupError, ParameterError
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.shapes import is_shape, shape_of
from blender_dp.logs import PLAIN_READING, Reading, Source, find
from blender_dp.logs.bad_rows import check_tally, largest_bad_share
from blender_dp.release import Release

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

    def fingerprint(self) -> str:
        """A text that changes when the files change; empty for a shape."""
        if self.varies:
            return ""
        parts = glob.glob(self.name, recursive=True) if glob.has_magic(self.name) else [self.name]  # noqa: PTH207
        files = [file for part in sorted(parts) for file in (sorted(Path(part).rglob("*")) or [Path(part)])]
        stats = [(str(one), one.stat()) for one in files if one.is_file()]
        return " ".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)

    def population(self, seed: int = 0) -> Population:
        """The users' records as counts."""
        if self.varies:
            return Population.of_shape(shape_of(self.name, self.users), seed)
        whole = self._read()
        return whole if self.users is None else whole.resized(self.users, seed)

    def _read(self) -> Population:
        path = Path(self.name)
        release = path / "release.json" if path.is_dir() else path
        if release.suffix == ".json" and release.is_file():
            return population_of_release(Release.load(release))
        if not path.exists() and "*" not in self.name and "://" not in self.name:
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


def population_of_release(release: Release) -> Population:
    """The population that a release describes, in whole users.

    A release does not say what is behind ⋆, so everyone there gets a record that no one else has. A list with more queries
    or a lower threshold than that of the release is therefore predicted to be too short.
    """
    users = sum(group.users for group in release.manifest.groups)
    levels = release.head_list.levels
    known: list[tuple[str | None, str | None, int]] = []
    alone: list[tuple[str | None, int]] = []
    left = users
    for row in release.records:  # the last one is ⟨⋆, ⋆⟩: everyone who is left
        count = left if row.query is None else min(round(max(row.share, 0.0) * users), left)
        left -= count
        if row.query is None or (levels == 2 and row.url is None):
            alone.append((row.query, count))
        else:
            known.append((row.query, row.url, count))
    named = pa.Table.from_pylist([dict(zip(_COUNTED.names, row, strict=True)) for row in known], _COUNTED)
    return Population.of_counts(pa.concat_tables([named, _own_records(alone, levels)]), users)


def _whole(batches: Iterator[pa.RecordBatch]) -> pa.Table:
    """All distinct records of one part, as one table."""
    return pa.concat_tables([_COUNTED.empty_table(), *(pa.Table.from_batches([batch]).cast(_COUNTED) for batch in batches)])


def _own_records(alone: list[tuple[str | None, int]], levels: int) -> pa.Table:
    """A record of its own for every user behind a ⋆."""
    rows = [(query, number) for query, count in alone for number in range(count)]
    queries = [f"unlisted {number}" if query is None else query for query, number in rows]
    urls = [f"unlisted {number}" if levels == 2 else None for _, number in rows]
    return pa.table(
        [pa.array(queries, pa.string()), pa.array(urls, pa.string()), np.ones(len(rows), np.int64)], schema=_COUNTED
    )
