"""The results of an engine for a log, in a comparable form."""

from __future__ import annotations

import gzip
from fractions import Fraction
from typing import NamedTuple

import pyarrow as pa

from blender_dp.logs import Problem, Tally
from tests.engines.bad_lines import FORMATS

RECORDS = pa.schema([("user", pa.string()), ("query", pa.string()), ("url", pa.string())])


COUNTS = pa.schema([("query", pa.string()), ("url", pa.string()), ("count", pa.int64())])


KEY = "it's a ${key} with \\ in it"


class Answer(NamedTuple):
    """All results of an engine for a log."""

    tally: Tally
    users: int
    records: list[tuple[str, ...]]
    counts: list[tuple[str, ...]]
    parts: list[list[tuple[str, ...]]]


def rows(parts) -> list[tuple[str, ...]]:
    return sorted((tuple(row.values()) for part in parts for row in part.to_pylist()), key=repr)


def records_of(group):
    return rows(group.over_records(collected(RECORDS)))


def counts_of(group):
    return rows(group.over_record_counts(collected(COUNTS)))


def collected(schema):
    """A `Work` that returns all rows. It is a nested function, because Spark's workers cannot import this module."""
    return lambda batches: pa.Table.from_pylist([row for batch in batches for row in batch.to_pylist()], schema)


def answer(engine, log, m) -> Answer:
    group, tally = engine.bound(log, m, KEY)
    parts = group.split(Fraction(1, 3), KEY, "test")
    return Answer(tally, group.users, records_of(group), counts_of(group), [records_of(part) for part in parts])


def write(folder, name, compressed: bool = False):
    header, lines, _ = FORMATS[name]
    content = header + b"".join(line for line, _ in lines)
    path = folder / (f"{name}.gz" if compressed else name)
    path.write_bytes(gzip.compress(content) if compressed else content)
    return path


def expected_tally(lines) -> Tally:
    fates = [fate for _, fate in lines if fate is not None]
    problems = sorted(fate for fate in fates if isinstance(fate, Problem))
    records = sum(fate is True for fate in fates)  # a problem may be equal to it
    return Tally(len(fates), records, {problem: problems.count(problem) for problem in problems})
