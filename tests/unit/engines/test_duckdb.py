from __future__ import annotations

import hashlib
from fractions import Fraction

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from blender_dp import Columns, LogError
from blender_dp.engines import DuckDBEngine

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
    return engine.bound(engine.load(table(rows)), m, key)


def records(group) -> list[tuple[str | None, str | None]]:
    return [(row["query"], row["url"]) for batch in group.records() for row in batch.to_pylist()]


def test_one_canonical_record_per_user_and_nobody_disappears():
    group = bounded(ROWS)
    assert group.users == 5
    first, *others = records(group)
    assert first in {("google", "http://www.google.com/"), ("maps", "https://maps.example/")}
    assert others == [("google", "http://www.google.com/"), *[(None, None)] * 3]


def test_order_and_volume_do_not_matter():
    rows = [(f"u{i % 40}", f"query {i % 7}", f"https://u.example/{i % 3}") for i in range(2000)]
    assert records(bounded(rows)) == records(bounded(rows[::-1] * 3))


def test_another_key_chooses_other_records():
    rows = [(f"u{i}", f"query {j}", "https://u.example/") for i in range(50) for j in range(5)]
    assert records(bounded(rows, key="a")) != records(bounded(rows, key="b"))


def test_the_choice_is_uniform_over_a_users_distinct_records():
    rows = [(f"u{i}", f"q{j}", "https://u.example/") for i in range(20_000) for j in range(4)]
    counts = {row["query"]: row["count"] for batch in bounded(rows).record_counts() for row in batch.to_pylist()}
    assert sum(counts.values()) == 20_000
    assert all(abs(count - 5000) < 4.9 * (20_000 * 0.25 * 0.75) ** 0.5 for count in counts.values())


@pytest.mark.parametrize("m", [2, 3, 5])
def test_more_records_per_user_are_padded_to_exactly_m(m):
    group = bounded([*ROWS, ("u1", "third", "https://x.example/")], m)
    assert group.users == 5
    slots = records(group)
    assert len(slots) == 5 * m
    assert sum(query is not None for query, _ in slots) == min(m, 3) + 1


def test_counts_leave_out_the_empty_slots():
    (batch,) = bounded(ROWS[2:]).record_counts()
    assert batch.to_pylist() == [{"query": "google", "url": "http://www.google.com/", "count": 1}]


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


def test_users_are_parted_by_name():
    group = bounded([(str(i), "q", "https://u.example/") for i in range(10)])
    named, others = group.part(pa.array(["3", "7", "unknown"]))
    assert (named.users, others.users) == (2, 8)


def test_numbers_and_dictionaries_are_fine_as_columns():
    data = pa.table({"user": [1, 1, 2], "query": pa.array(["a", "a", "b"]).dictionary_encode(), "url": ["x.example"] * 3})
    engine = DuckDBEngine(ordered=True)
    assert records(engine.bound(engine.load(data), 1, "k")) == [("a", "https://x.example/"), ("b", "https://x.example/")]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_files(tmp_path, suffix):
    data = table([("1", 'say "hi", you', "x.example"), ("2", "b", "y.example")]).rename_columns(["who", "what", "where"])
    path = tmp_path / f"log{suffix}"
    if suffix == ".parquet":
        pq.write_table(data, path)
    else:
        pa_csv.write_csv(data, path, pa_csv.WriteOptions(delimiter="," if suffix == ".csv" else "\t"))
    engine = DuckDBEngine(ordered=True)
    group = engine.bound(engine.read(path, Columns("who", "what", "where")), 1, "k")
    assert records(group) == [('say "hi", you', "https://x.example/"), ("b", "https://y.example/")]


def test_a_name_is_no_pattern(tmp_path):
    (tmp_path / "log1.csv").write_text("user,query,url\n1,wrong,x.example\n", encoding="utf-8")
    (tmp_path / "log[1].csv").write_text("user,query,url\n1,right,x.example\n", encoding="utf-8")
    engine = DuckDBEngine(ordered=True)
    assert records(engine.bound(engine.read(tmp_path / "log[1].csv"), 1, "k")) == [("right", "https://x.example/")]


@pytest.mark.parametrize(
    "row", ['"say ""hi"", you"', "'tis", '"#1, ""best"" \'x\'"', "# no comment", '"a;b|c"', "NULL", "\\\\N", '"two\\nlines"']
)
def test_one_users_row_never_changes_how_the_others_are_read(tmp_path, row):
    """The dialect is fixed. If it were guessed from the rows, one row could move everybody's record."""
    lines = [f"u{i:03},'query {i}',https://x.example/{i}" for i in range(200)]
    parsed = []
    for name, body in (("without.csv", lines), ("with.csv", [f"u999,{row},https://y.example/", *lines])):
        (tmp_path / name).write_text("\n".join(["user,query,url", *body, ""]), encoding="utf-8")
        engine = DuckDBEngine(ordered=True)
        parsed.append(records(engine.bound(engine.read(tmp_path / name), 1, "k"))[:200])
    assert parsed[0] == parsed[1]
    assert parsed[0][7] == ("'query 7'", "https://x.example/7")


def test_unreadable_files_are_refused_by_name(tmp_path):
    engine = DuckDBEngine()
    with pytest.raises(LogError, match="cannot tell the format"):
        engine.read(tmp_path / "log.xlsx")
    with pytest.raises(LogError, match="does not exist"):
        engine.read(tmp_path / "log.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(LogError, match="is not a file"):
        engine.read(tmp_path / "folder.csv")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(LogError, match="is empty"):
        engine.read(tmp_path / "empty.csv")
    (tmp_path / "twice.csv").write_text("user,query,query\n", encoding="utf-8")
    with pytest.raises(LogError, match="two columns alike"):
        engine.read(tmp_path / "twice.csv")
    (tmp_path / "log.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(LogError, match="damaged"):
        engine.read(tmp_path / "log.parquet")


def test_a_missing_column_is_named(tmp_path):
    (tmp_path / "log.csv").write_text("user,query,link\n1,a,b\n", encoding="utf-8")
    with pytest.raises(LogError, match="no column 'url' for the url; its first line names 3 columns, among"):
        DuckDBEngine().read(tmp_path / "log.csv")
    with pytest.raises(LogError, match="its columns are user, query, page"):
        DuckDBEngine().load(pa.table({"user": ["1"], "query": ["a"], "page": ["b"]}))


SECRET = "how to hide my illness"  # noqa: S105
BROKEN = {
    "headerless.csv": f"u77,{SECRET},https://x.example/\n".encode(),
    "ragged.csv": b"user,query,url\n" + b"1,a,b\n" * 3000 + f"1,{SECRET},3,4,5\n".encode(),
    "short.csv": b"user,query,url\n" + f"1,{SECRET}\n".encode(),
    "quote.csv": b"user,query,url\n" + f'1,"{SECRET},b\n'.encode(),
    "encoding.csv": b"user,query,url\n" + f"1,{SECRET} ".encode() + b"\xff,b\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_no_error_repeats_what_a_row_says(tmp_path, name):
    (tmp_path / name).write_bytes(BROKEN[name])
    engine = DuckDBEngine()
    with pytest.raises(LogError) as caught:
        engine.bound(engine.read(tmp_path / name), 1, "k")
    assert SECRET not in str(caught.value)
    assert "illness" not in str(caught.value)


def test_no_error_repeats_what_a_parquet_row_says(tmp_path):
    bad = pa.array([f"{SECRET} ".encode() + b"\xff"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"user": ["1"], "query": bad, "url": ["x"]}), tmp_path / "log.parquet")
    engine = DuckDBEngine()
    with pytest.raises(LogError) as caught:
        engine.bound(engine.read(tmp_path / "log.parquet"), 1, "k")
    assert "illness" not in str(caught.value)


def test_nobodys_name_is_nobody():
    group = bounded([(str(i), "q", "https://u.example/") for i in range(10)])
    named, others = group.part(pa.array(["3", None, ""]))
    assert (named.users, others.users) == (1, 9)
