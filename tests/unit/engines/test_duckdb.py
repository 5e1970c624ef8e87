from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv

from blender_dp import LogError, ParameterError
from blender_dp.engines import DuckDBEngine
from blender_dp.logs import Problem, find

ROWS = [
    ("u1", "Google", "http://www.google.com"),
    ("u1", "maps", "maps.example"),
    ("u2", "google", "HTTP://WWW.GOOGLE.COM/"),
    ("u3", None, "https://x.example/"),
    ("u4", "", "https://x.example/"),
    ("u5", "   ", "https://x.example/"),
    (None, "lost", "https://x.example/"),
]


def table(rows: list[tuple[str | None, str | None, str | None]]) -> pa.Table:
    return pa.table(
        {name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(("user", "query", "url"))}
    )


def bounded(rows: list[tuple[str | None, str | None, str | None]], m: int = 1, key: str = "k"):
    engine = DuckDBEngine(ordered=True)
    return engine.bound(engine.load(table(rows)), m, key)[0]


def everything(batches) -> pa.Table:
    return pa.Table.from_batches(batches)


def rows_of(parts: list[pa.Table]) -> list[dict]:
    return [row for part in parts for row in part.to_pylist()]


def records(group) -> list[tuple[str | None, str | None]]:
    return [(row["query"], row["url"]) for row in rows_of(group.over_records(everything))]


def counts_of(group) -> dict[str, int]:
    return {row["query"]: row["count"] for row in rows_of(group.over_record_counts(everything))}


def test_every_user_has_one_canonical_record_and_none_disappears():
    group = bounded(ROWS)
    assert group.users == 5
    first, *others = records(group)
    assert first in {("google", "http://www.google.com/"), ("maps", "https://maps.example/")}
    assert others == [("google", "http://www.google.com/"), *[(None, None)] * 3]


def test_order_and_repetition_of_rows_do_not_matter():
    rows = [(f"u{i % 40}", f"query {i % 7}", f"https://u.example/{i % 3}") for i in range(2000)]
    assert records(bounded(rows)) == records(bounded(rows[::-1] * 3))


def test_another_key_chooses_other_records():
    rows = [(f"u{i}", f"query {j}", "https://u.example/") for i in range(50) for j in range(5)]
    assert records(bounded(rows, key="a")) != records(bounded(rows, key="b"))


def test_the_choice_is_uniform_over_a_users_distinct_records():
    rows = [(f"u{i}", f"q{j}", "https://u.example/") for i in range(20_000) for j in range(4)]
    counts = counts_of(bounded(rows))
    assert sum(counts.values()) == 20_000
    assert all(abs(count - 5000) < 4.9 * (20_000 * 0.25 * 0.75) ** 0.5 for count in counts.values())


@pytest.mark.parametrize("m", [2, 3, 5])
def test_several_records_per_user_are_padded_to_exactly_m(m):
    group = bounded([*ROWS, ("u1", "third", "https://x.example/")], m)
    assert group.users == 5
    slots = records(group)
    assert len(slots) == 5 * m
    assert sum(query is not None for query, _ in slots) == min(m, 3) + 1


def test_counts_exclude_empty_slots():
    counts = rows_of(bounded(ROWS[2:]).over_record_counts(everything))
    assert counts == [{"query": "google", "url": "http://www.google.com/", "count": 1}]


def test_a_split_is_complete_repeatable_and_about_the_share():
    group = bounded([(f"u{i}", "q", "https://u.example/") for i in range(10_000)])
    chosen, others = group.split(Fraction(1, 5), "key", "purpose")
    assert chosen.users + others.users == 10_000
    assert abs(chosen.users - 2000) < 4.9 * 40
    assert chosen.users == group.split(Fraction(1, 5), "key", "purpose")[0].users
    assert chosen.shared_users(others) == 0


def test_a_split_is_a_portable_hash():
    group = bounded([(f"u{i}", "q", "https://u.example/") for i in range(200)])
    threshold = Fraction(1, 3) * 16**32
    expected = {
        f"u{i}"
        for i in range(200)
        if int(hashlib.md5(f"key\x1fpurpose\x1fu{i}".encode(), usedforsecurity=False).hexdigest(), 16) < int(threshold)
    }
    chosen, _ = group.split(Fraction(1, 3), "key", "purpose")
    assert {row["user"] for batch in chosen.engine.stream(chosen.table, ("user",)) for row in batch.to_pylist()} == expected


def test_different_purposes_split_differently():
    group = bounded([(f"u{i}", "q", "https://u.example/") for i in range(1000)])
    opt_in, _ = group.split(Fraction(1, 2), "key", "opt-in")
    discovery, rest = opt_in.split(Fraction(1, 2), "key", "discovery")
    assert min(discovery.users, rest.users) > 150


def test_users_are_split_by_name():
    group = bounded([(str(i), "q", "https://u.example/") for i in range(10)])
    named, others = group.part(pa.array(["3", "7", "unknown"]))
    assert (named.users, others.users) == (2, 8)


def test_columns_may_be_numbers_or_dictionaries():
    data = pa.table({"user": [1, 1, 2], "query": pa.array(["a", "a", "b"]).dictionary_encode(), "url": ["x.example"] * 3})
    engine = DuckDBEngine(ordered=True)
    assert records(engine.bound(engine.load(data), 1, "k")[0]) == [("a", "https://x.example/"), ("b", "https://x.example/")]


def test_null_and_empty_names_match_no_user():
    group = bounded([(str(i), "q", "https://u.example/") for i in range(10)])
    named, others = group.part(pa.array(["3", None, ""]))
    assert (named.users, others.users) == (1, 9)


def test_a_missing_column_is_named():
    with pytest.raises(LogError, match="its columns are user, query, page"):
        DuckDBEngine().load(pa.table({"user": ["1"], "query": ["a"], "page": ["b"]}))


def test_a_type_that_duckdb_does_not_know_is_a_typed_error():
    halves = pa.table({"user": pa.array([1.0], pa.float16()), "query": ["q"], "url": ["x.example"]})
    with pytest.raises(LogError, match="table: cannot be read"):
        DuckDBEngine().load(halves)


def test_rows_are_tallied():
    engine = DuckDBEngine()
    for m in (1, 3):
        _, tally = engine.bound(engine.load(table(ROWS)), m, "k")
        assert (tally.rows, tally.records, tally.bad, tally.without_record) == (7, 4, 1, 2)
        assert tally.problems == {Problem.NO_USER: 1}


@pytest.mark.slow
def test_little_memory_is_enough():
    rows = [(f"u{i}", f"query {i % 1000} {'x' * 200}", "https://u.example/") for i in range(100_000)]
    engine = DuckDBEngine(memory="100MB")
    group, _ = engine.bound(engine.load(table(rows)), 1, "k")
    assert len(counts_of(group)) == 1000
    with pytest.raises(ParameterError, match="not an amount of memory"):
        DuckDBEngine(memory="much")


@pytest.mark.slow
def test_without_spilling_nothing_is_written_to_disk():
    """Not even if memory is short: the work fails, with an error that quotes no row."""
    rows = pa.table(
        {"user": [f"user {i}" for i in range(300_000)], "query": ["q" * 100] * 300_000, "url": ["u.example"] * 300_000}
    )
    for spill in (True, False):
        engine = DuckDBEngine(spill=spill)
        engine._connection.execute("SET memory_limit = '40MB'; SET threads = 1")
        written = engine._connection.cursor()
        try:
            group, _ = engine.bound(engine.load(rows), 1, "key")
            assert spill
            assert group.users == 300_000
        except ParameterError:
            assert not spill
        used = written.execute("SELECT coalesce(sum(size), 0) FROM duckdb_temporary_files()").fetchall()[0][0]
        assert (used > 0) == spill
        assert spill or not [*Path(engine._scratch).iterdir()]


@pytest.mark.parametrize(("memory", "share"), [("2GB", 500_000_000), ("1 GiB", 350_000_000), ("100MB", 50_000_000)])
def test_the_memory_limit_is_for_the_whole_process(memory, share):
    """DuckDB gets its share of the limit, and shows it in MiB or GiB, truncated."""
    shown = DuckDBEngine(memory=memory)._connection.sql("SELECT current_setting('memory_limit')").fetchall()[0][0]
    number, unit = shown.split()
    step = {"MiB": 1 << 20, "GiB": 1 << 30}[unit]
    assert 0 <= share - float(number) * step < step / 10


@pytest.mark.parametrize("memory", ["much", "-1", "90%", "2GB; rm"])
def test_an_invalid_amount_of_memory_is_refused(memory):
    with pytest.raises(ParameterError, match="not an amount of memory"):
        DuckDBEngine(memory=memory)


def test_the_portable_hash_is_md5_of_the_joined_fields():
    rows = [("u", f"q{i}", "https://u.example/") for i in range(20)]
    engine = DuckDBEngine(portable=True)
    group, _ = engine.bound(engine.load(table(rows)), 1, "key")
    least = min(rows, key=lambda row: hashlib.md5("\x1f".join(("key", *row)).encode()).hexdigest())  # noqa: S324
    assert records(group) == [least[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("question", ["bound", "bad rows"])
def test_too_little_memory_is_not_taken_for_a_damaged_file(tmp_path, question):
    rows, path = 300_000, tmp_path / "log.csv"
    csv.write_csv(pa.table({"user": range(rows), "query": pa.nulls(rows), "url": ["x.example"] * rows}), path)
    engine = DuckDBEngine(memory="2MB")
    with pytest.raises(ParameterError, match=r"memory: it is not enough for .*log\.csv\. Allow more"):
        engine.bound(engine.read(find(path)), 1, "k") if question == "bound" else list(engine.bad_rows(find(path)))
