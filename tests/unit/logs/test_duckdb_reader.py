"""Every format, and every reason why a row can be bad: bad rows are counted and affect no other row."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blender_dp import Columns, LogError
from blender_dp.engines import DuckDBEngine
from blender_dp.logs import Problem, Tally, find
from tests.generators.aol import write_aol
from tests.generators.yandex import write_yandex

pytestmark = pytest.mark.slow  # a connection and several files for most tests

HEADER = b"user\tquery\turl\n"
GOOD = b"".join(b"u%d\tquery %d\thttps://x.example/%d\n" % (i, i, i) for i in range(3000))


def bounded(path, columns=None, **options) -> tuple[list[tuple[str, str | None, str | None]], Tally]:
    engine = DuckDBEngine(ordered=True)
    source = find(path, columns=columns or Columns(), **options)
    group, tally = engine.bound(engine.read(source), 1, "k")
    (table,) = group.over_records(pa.Table.from_batches)
    return [(row["user"], row["query"], row["url"]) for row in table.to_pylist()], tally


ROWS = [("1", 'say "hi", you', "https://x.example/"), ("2", "b", "https://y.example/"), ("3", "’tis", "https://z.example/")]


def write(path, rows=ROWS) -> None:
    """Write the rows in the format of the file's ending."""
    name = path.name
    if name.endswith(".parquet"):
        columns = dict(zip(("who", "what", "where"), zip(*rows, strict=True), strict=True))
        pq.write_table(pa.table({key: list(values) for key, values in columns.items()}), path)
        return
    if ".jsonl" in name:
        lines = [json.dumps({"where": c, "who": int(a), "what": b, "more": [1]}, ensure_ascii=False) for a, b, c in rows]
    elif ".csv" in name:
        quoted = [['"' + field.replace('"', '""') + '"' for field in row] for row in rows]
        lines = ["who,what,where", *(",".join(row) for row in quoted)]
    else:
        lines = ["who\twhat\twhere", *("\t".join(row) for row in rows)]
    data = "\n".join([*lines, ""]).encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


@pytest.mark.parametrize(
    "name", ["log.csv", "log.tsv", "log.txt", "log.jsonl", "log.parquet", "log.csv.gz", "log.tsv.gz", "log.jsonl.gz"]
)
def test_every_format_yields_the_same_rows(tmp_path, name):
    write(tmp_path / name)
    rows, tally = bounded(tmp_path / name, Columns("who", "what", "where"))
    assert rows == ROWS
    assert tally == Tally(3, 3, {})


BAD_LINES = {
    b"u1\tq": Problem.WRONG_NUMBER_OF_COLUMNS,
    b"u1\tq\tu\textra": Problem.WRONG_NUMBER_OF_COLUMNS,
    b"u1\tq\tu\t": Problem.WRONG_NUMBER_OF_COLUMNS,
    b"u1\tq\xff\xfe\tu": Problem.NOT_UTF8,
    b"u1\tcut \xc3\tu": Problem.NOT_UTF8,
    b"\tq\tu": Problem.NO_USER,
    b"u1\t" + b"a" * 2_000_000 + b"\tu": Problem.TOO_LONG,
    b"u1\t" + b"a" * 5_000_000 + b"\tu": Problem.TOO_LONG,
}


@pytest.mark.parametrize("line", BAD_LINES, ids=lambda line: repr(line[:20]))
def test_a_bad_line_is_counted_and_affects_no_other_row(tmp_path, line):
    (tmp_path / "log.tsv").write_bytes(HEADER + GOOD + line + b"\n" + GOOD)
    (tmp_path / "without.tsv").write_bytes(HEADER + GOOD + GOOD)
    rows, tally = bounded(tmp_path / "log.tsv")
    assert tally == Tally(6001, 6000, {BAD_LINES[line]: 1})
    assert rows == bounded(tmp_path / "without.tsv")[0]


BAD_CSV = {
    b'u1,"open,u': Problem.BROKEN_QUOTES,
    b'u1,a"b,u': Problem.BROKEN_QUOTES,
    b'u1,"a"b,u': Problem.BROKEN_QUOTES,
    b"u1,a": Problem.WRONG_NUMBER_OF_COLUMNS,
    b"u1,a,b,c": Problem.WRONG_NUMBER_OF_COLUMNS,
    b'u1,"a,b"': Problem.WRONG_NUMBER_OF_COLUMNS,
    b",a,b": Problem.NO_USER,
    b'"",a,b': Problem.NO_USER,
    b"u1,a\x01b,c": Problem.CONTROL_CHARACTER,
    b"u1,\xff,c": Problem.NOT_UTF8,
    b"u1,#1 'best' \\,c": None,
    b"u1,NULL,c": None,
    b'u1,"say ""hi"", you",c': None,
    b'u1,"","c"': None,
}


@pytest.mark.parametrize("line", BAD_CSV, ids=repr)
def test_one_users_row_never_changes_how_the_others_are_read(tmp_path, line):
    """A quoted field cannot span lines, and nothing is guessed: one row must not change other users' records."""
    good = b"".join(b"v%d,'query %d',https://x.example/%d\n" % (i, i, i) for i in range(200))
    (tmp_path / "log.csv").write_bytes(b"user,query,url\n" + line + b"\n" + good)
    rows, tally = bounded(tmp_path / "log.csv")
    assert tally.problems == ({} if BAD_CSV[line] is None else {BAD_CSV[line]: 1})
    others = [row for row in rows if row[0] != "u1"]
    assert len(others) == 200
    assert ("v7", "'query 7'", "https://x.example/7") in others
    assert len(rows) == 200 + line.startswith(b"u1")  # the user id can be read, so the user counts
    assert BAD_CSV[line] is None or ("u1", None, None) in rows or not line.startswith(b"u1")


def test_json_lines(tmp_path):
    lines = [
        '{"user": 1, "query": "caf\\u00e9", "url": "x.example"}',
        '{"user": "2", "query": null, "url": "x.example"}',
        '{"user": "3", "url": "x.example"}',
        "",
        "{broken",
        "17",
        '{"query": "a", "url": "b"}',
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(lines), encoding="utf-8")
    rows, tally = bounded(tmp_path / "log.jsonl")
    assert rows == [("1", "café", "https://x.example/"), ("2", None, None), ("3", None, None)]
    assert tally == Tally(6, 1, {Problem.NOT_JSON: 1, Problem.NO_USER: 2})


def test_invisible_characters_are_removed_and_blank_lines_skipped(tmp_path):
    (tmp_path / "log.tsv").write_bytes(HEADER + b"u1\ta\x00b\tx.example\n\n\nu2\tc\ty.example\r\nu3\td\tz.example")
    rows, tally = bounded(tmp_path / "log.tsv")
    assert [row[1] for row in rows] == ["ab", "c", "d"]
    assert tally == Tally(3, 3, {})


def test_the_readable_part_of_a_truncated_file_is_used(tmp_path):
    whole = gzip.compress(HEADER + GOOD * 20)
    (tmp_path / "a.tsv.gz").write_bytes(whole[: len(whole) * 2 // 3])
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(HEADER + b"last\tone\tx.example\n"))
    rows, tally = bounded(tmp_path)
    assert tally.problems == {Problem.FILE_CUT_OFF: 1}
    assert 30_000 < tally.records < 60_000
    assert ("last", "one", "https://x.example/") in rows


def test_the_readable_part_of_a_short_truncated_file_is_used(tmp_path):
    whole = gzip.compress(HEADER + GOOD)
    (tmp_path / "a.tsv.gz").write_bytes(whole[: len(whole) - 9])
    _, tally = bounded(tmp_path)
    assert tally.problems == {Problem.FILE_CUT_OFF: 1}
    assert 2900 < tally.records <= 3000
    assert list(DuckDBEngine().bad_rows(find(tmp_path))) == [{"reason": "file cut off"}]


def test_a_rejected_line_is_counted_once(tmp_path):
    """No matter how many of its fields are invalid, or how often the log is read."""
    (tmp_path / "log.tsv").write_bytes(HEADER + GOOD + b"\xff\t\xfe\t\xff\n" + b"u\t\xff\tx\n")
    engine = DuckDBEngine()
    for m in (1, 3):
        _, tally = engine.bound(engine.read(find(tmp_path)), m, "k")
        assert tally == Tally(3002, 3000, {Problem.NOT_UTF8: 2})
    assert [row["line"] for row in engine.bad_rows(find(tmp_path))] == [3002, 3003]


@pytest.mark.parametrize("place", ["first", "middle", "last"])
@pytest.mark.parametrize("megabytes", [3, 17, 33, 70])
def test_a_line_of_many_megabytes_and_its_user_are_counted(tmp_path, place, megabytes):
    """DuckDB silently drops the longest lines."""
    line = b"giant\t" + b"a" * (megabytes * 1_000_000) + b"\tx.example\n"
    parts = {"first": (line, GOOD), "middle": (GOOD, line, GOOD), "last": (GOOD, line[:-1])}[place]
    (tmp_path / "log.tsv").write_bytes(HEADER + b"".join(parts))
    rows, tally = bounded(tmp_path / "log.tsv")
    assert tally.problems == {Problem.TOO_LONG: 1}
    assert len(rows) == 3001
    assert ("giant", None, None) in rows
    assert [row["reason"] for row in DuckDBEngine().bad_rows(find(tmp_path))] == ["too long"]


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_the_user_of_a_rejected_line_is_read_from_the_file_if_uncertain(tmp_path, ending):
    """DuckDB stores such a line with question marks for invalid UTF-8, and only the start of it."""
    lines = [
        b"who?,\xff,x.example\n", b"who\xff,q,x.example\n", b"\xff\n", *[b"g,q,x.example\n"] * 100_000,
        b"long?," + b"b" * 2_500_000 + b",\n", b"u" * 20_000 + b"," + b"b" * 2_500_000 + b",\r\n", b"last?,\xff,",
    ]  # fmt: skip
    content = b"\xef\xbb\xbfuser,query,url\n" + b"".join(lines)
    compressed = {"": content, ".gz": gzip.compress(content), ".zst": pa.compress(content, "zstd", asbytes=True)}[ending]
    (tmp_path / f"log.csv{ending}").write_bytes(compressed)
    rows, tally = bounded(tmp_path / f"log.csv{ending}")
    assert {user for user, *_ in rows} == {"who?", "g", "long?", "u" * 20_000, "last?"}
    assert tally.problems == {Problem.NOT_UTF8: 4, Problem.TOO_LONG: 2}


_SPLITS = b"a\x01\x02\x01\x03b\x01\x02\x01\x03c"


@pytest.mark.parametrize(
    "query", [b"q", b"\x02", b"\x01\x02\x01\x03", _SPLITS, "é€".encode() * 450_000], ids=lambda q: q[:12]
)
@pytest.mark.parametrize(
    ("name", "header", "line"),
    [
        ("log.tsv", b"user\tquery\turl\n", b"me\t%s\tx.example\n"),
        ("log.csv", b"query,url,user\n", b"%s,x.example,me\n"),
        ("log.jsonl", b"", b'{"query": "%s", "url": "x.example", "user": "me"}\n'),
        (
            "log.txt",
            b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n",
            b"me\t%s\t2006-03-01 07:17:12\t1\thttp://x.example\n",
        ),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_the_user_counts_whatever_the_query_is(tmp_path, name, header, line, query):
    """Neither a character with a meaning for a reader nor the length in bytes makes a user disappear."""
    (tmp_path / name).write_bytes(header + line % b"other" + line.replace(b"me", b"you") % query)
    rows, _ = bounded(tmp_path / name)
    assert sorted(user for user, *_ in rows) == ["me", "you"]


def test_aol(tmp_path):
    write_aol(tmp_path, 20_000, files=3, compress=True)
    rows, tally = bounded(tmp_path)
    assert tally.rows == 20_000
    assert tally.problems == {}
    assert 0.4 < tally.records / tally.rows < 0.65
    assert 250 < len(rows) < 600
    assert ("google", "http://www.google.com/") in {row[1:] for row in rows}


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.jsonl", "log.parquet"])
def test_without_a_url_queries_are_single_items(tmp_path, name):
    write(tmp_path / name)
    rows, tally = bounded(tmp_path / name, Columns("who", "what", None))
    assert rows == [(user, query, None) for user, query, _ in ROWS]
    assert tally == Tally(3, 3, {})


def test_aol_without_urls_counts_rows_without_a_click_too(tmp_path):
    write_aol(tmp_path, 5000)
    rows, tally = bounded(tmp_path, Columns(url=None))
    assert tally.records == 5000
    assert {row[2] for row in rows} == {None}


def test_yandex_clicks_are_joined_with_their_query(tmp_path):
    lines = [
        "0\tM\t1\t7",
        "0\t0\tQ\t0\t55\t200,8\t100,1\t200,2\t300,3",  # a term has the same id as the URL
        "0\t5\tC\t0\t200",
        "1\tM\t1\t8",
        "1\t0\tT\t0\t55\t9,8\t100,1\t200,2",
        "2\tM\t1\t9",
        "2\t0\tQ\t0\t56\t9\t100,1",
        "2\t0\tQ\t1\t57\t9\t400,4",
        "2\t3\tC\t1\t400",
        "2\t4\tC\t1\t999",
        "3\t4\tC\t0\t100",
        "nonsense",
    ]
    (tmp_path / "train").write_text("\n".join([*lines, ""]), encoding="utf-8")
    rows, tally = bounded(tmp_path / "train")
    assert rows == [
        ("7", "55", "https://domain2.example/200"),
        ("8", None, None),
        ("9", "57", "https://domain4.example/400"),
    ]
    expected = {Problem.WRONG_NUMBER_OF_COLUMNS: 1, Problem.NO_USER: 1, Problem.CLICK_WITHOUT_RESULTS_PAGE: 1}
    assert tally == Tally(8, 2, expected)


def test_a_yandex_file(tmp_path):
    write_yandex(tmp_path / "train.gz", 3000)
    rows, tally = bounded(tmp_path / "train.gz")
    assert tally.problems == {}
    assert sum(row[1] is not None for row in rows) > len(rows) / 2


SECRET = "how to hide my illness"  # noqa: S105


def test_errors_never_quote_a_row(tmp_path):
    (tmp_path / "headerless.csv").write_bytes(f"u77,{SECRET},https://x.example/\n".encode())
    with pytest.raises(LogError) as caught:
        bounded(tmp_path / "headerless.csv")
    assert "illness" not in str(caught.value)
    bad = pa.array([f"{SECRET} ".encode() + b"\xff"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"user": ["1"], "query": bad, "url": ["x"]}), tmp_path / "log.parquet")
    with pytest.raises(LogError) as caught:
        bounded(tmp_path / "log.parquet")
    assert "illness" not in str(caught.value)
