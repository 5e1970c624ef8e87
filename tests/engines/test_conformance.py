"""Every engine gives the same groups, counts and tallies for the same log."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import NamedTuple

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blender_dp import Columns, Entropy, LogError
from blender_dp.engines import DuckDBEngine
from blender_dp.logs import PLAIN_COLUMNS, Problem, Tally, as_table, find
from blender_dp.stages.reporting import counted_reports, sum_counts
from blender_dp_device.channel.two_stage import Channel
from tests.generators.aol import write_aol
from tests.generators.yandex import write_yandex

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

RECORDS = pa.schema([("user", pa.string()), ("query", pa.string()), ("url", pa.string())])
COUNTS = pa.schema([("query", pa.string()), ("url", pa.string()), ("count", pa.int64())])
KEY = "it's a ${key} with \\ in it"

# Every line, and what becomes of it: a problem, True for a record, False for none, None if it is no row at all.
# Below, for every format, the users who count: whoever is named by a line, good or bad, whose user can be read.
TSV = [
    (b"1\tgoogle\twww.google.com\tt\n", True),
    (b"1\tmaps\tmaps.example\tt\n", True),
    (b"2\ttoo few\tx.example\n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b"3\tone too many\tx.example\tt\t\n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b"4\tmany too many\tx.example\tt\tt\tt\n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b"just words\n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b" \n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b"\tnobody\tx.example\tt\n", Problem.NO_USER),
    (b"\t\t\t\n", Problem.NO_USER),
    (b"\n", None),
    (b"\r\n", None),
    (b"\r\r", None),
    (b"5\tcarriage return and newline\tx.example\tt\r\n", True),
    (b"6\tcarriage return\tx.example\tt\r", True),
    (b"7\tafter it\tx.example\tt\n", True),
    (b"8\tnot \xff UTF-8\tx.example\tt\n", Problem.NOT_UTF8),
    (b"8\tnot used\tx.example\t\xed\xa0\x80\n", Problem.NOT_UTF8),
    (b"8\xc0\x80\n", Problem.NOT_UTF8),
    (b"9\tcontrol \x01 character\tx.example\tt\n", True),
    (b"10\tnul \x00 character\tx.example\tt\n", True),
    (b"11\t" + b"a" * 1_999_984 + b"\tx.example\tt\n", True),
    (b"11\t" + b"a" * 1_999_985 + b"\tx.example\tt\n", Problem.TOO_LONG),
    (b"12\tlong line\tx.example\t" + b"t" * 2_100_000 + b"\n", Problem.TOO_LONG),
    (b'13\t"quote\tx.example\tt\n', True),
    (b"14\t\tx.example\tt\n", False),
    (b"15\tno click\t\tt\n", False),
    ("16\tÉtÉ \u2003 Straße\tHTTP://BÜCHER.example:80\tt\n".encode(), True),
    (b"18\ttoo few", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b"\n19\t\xff\tx.example\t\xff\t\t\t\n", Problem.NOT_UTF8),
    (b"20\ta\tx.example\t" + b"t" * 9_000_000 + b"\n", Problem.TOO_LONG),
    (b"21\t" + b"a" * 2_100_000 + b"\n", Problem.TOO_LONG),
    (b"22\t" + b"\xff" * 2_100_000 + b"\n", Problem.NOT_UTF8),
    (b"23\xff\tq\tx.example\tt\n", Problem.NOT_UTF8),
    (b"24?\t\xff\tx.example\tt\n", Problem.NOT_UTF8),
    (b"17\tno newline\tx.example\tt", True),
]
CSV = [
    (b"1,google,www.google.com\n", True),
    (b'1,"say ""hi"", you",x.example\r\n', True),
    (b'"2","",""\n', False),
    (b'3,"open,x.example\n', Problem.BROKEN_QUOTES),
    (b'3,"shut"too early,x.example\n', Problem.BROKEN_QUOTES),
    (b'3,mid"dle,x.example\n', Problem.BROKEN_QUOTES),
    (b'3,"a""",x.example"\n', Problem.BROKEN_QUOTES),
    (b'4,"over two\r', Problem.BROKEN_QUOTES),
    (b'lines",x.example\n', Problem.BROKEN_QUOTES),
    (b'5,"' + b'""' * 3000 + b'",x.example\n', True),
    (b'5,"' + b'""' * 1_000_000 + b'",x.example\n', Problem.TOO_LONG),
    (b'5,"' + b'"",' * 9000 + b"\n", Problem.BROKEN_QUOTES),
    (b"6,too few\n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b'6,"too",many,columns\n', Problem.WRONG_NUMBER_OF_COLUMNS),
    (b",nobody,x.example\n", Problem.NO_USER),
    (b'"",nobody,x.example\n', Problem.NO_USER),
    (b"7,control \x01 character,x.example\n", Problem.CONTROL_CHARACTER),
    (b"7,two \x01 control \x01 characters,x.example\n", Problem.CONTROL_CHARACTER),
    (b"8,not \xff UTF-8,x.example\n", Problem.NOT_UTF8),
    (b"9,nul \x00 character,x.example\n", True),
    (b"10,line,x.example," + b"t" * 2_100_000 + b"\n", Problem.TOO_LONG),
    (b"11,'tis,x.example\n", True),
    (b"12,back\\slash,x.example\n", True),
    (b'13,"' + b'""' * 1_000_000 + b'",x.example\n', Problem.TOO_LONG),
    (b'14,"\xff,x.example\n', Problem.NOT_UTF8),
    (b'15,mid"dle,x.example\n', Problem.BROKEN_QUOTES),
    (b"16,a,b,c,d,e,f\n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b'"a,b",mid"dle,x.example\n', Problem.BROKEN_QUOTES),
    (b'"17"x,a,x.example\n', Problem.BROKEN_QUOTES),
    (b"\n", None),
]
JSONL = [
    (b'{"user": "1", "query": "google", "url": "www.google.com", "more": [1]}\n', True),
    (b'{"url": "x.example", "query": "say \\"hi\\" \\u00e9", "user": 2}\r\n', True),
    (b'{"user": 2, "query": 1.50, "url": true}\n', True),
    (b'{"user": 3, "query": null, "url": "x.example"}\n', False),
    (b'{"user": 4}\n', False),
    (b'{"user": 5, "user": 6, "query": "twice", "url": "x.example"}\n', True),
    (b'{"user": {"a" : 1}, "query": [1, 2], "url": "x.example"}\n', True),
    (b'{"user": 7, "query": "trailing", "url": "x.example"} {}\n', Problem.NOT_JSON),
    (b'{"user": 7, "query": "cut\n', Problem.NOT_JSON),
    (b'{"user": 7, "query": "\\ud800", "url": "x.example"}\n', Problem.NOT_JSON),
    (b"{'user': 7}\n", Problem.NOT_JSON),
    (b"words\n", Problem.NOT_JSON),
    (b"  \n", Problem.NOT_JSON),
    (b'{"query": "nobody", "url": "x.example"}\n', Problem.NO_USER),
    (b'{"user": "", "query": "nobody", "url": "x.example"}\n', Problem.NO_USER),
    (b"[1]\n", Problem.NO_USER),
    (b"1\n", Problem.NO_USER),
    (b'{"user": 8, "query": "not \xff UTF-8", "url": "x.example"}\n', Problem.NOT_UTF8),
    (b'{"user": 9, "query": "control \x01", "url": "x.example"}\n', Problem.CONTROL_CHARACTER),
    (b'{"user": 10, "query": "nul \\u0000", "url": "x.example"}\n', True),
    (b'{"user": 11, "query": "' + b"a" * 2_000_000 + b'", "url": "x.example"}\n', Problem.TOO_LONG),
    (b'{"query": "' + b"a" * 2_000_000 + b'", "url": "x.example", "user": 12}\n', Problem.TOO_LONG),
    (b'{"query": "\\ud800", "url": "x.example", "user": "13"}\n', Problem.NOT_JSON),
    (b'{"query": "\\q", "more": [{"user": [0]}, "]}"], "user": "\\u0031\\u0034"}\n', Problem.NOT_JSON),
    (b'{"user": 15, "query": "a\tb", "url": "x.example"}\n', Problem.NOT_JSON),
    (b'{"user": 16, "query": "a "quote"", "url": "x.example"}\n', Problem.NOT_JSON),
    (b'{"user": 17, "query": NaN, "url": "x.example"}\n', False),
    (b'{"query": "a\x01\x02\x01\x03b\x01", "user": 0}\n', Problem.CONTROL_CHARACTER),
    (b'{"query": "a\x01b\x01", "user": 18}\n', Problem.CONTROL_CHARACTER),
    (b'{"query": "\xff", "user": 19}\n', Problem.NOT_UTF8),
    (b'{"user": "20\xff", "query": ""}\n', Problem.NOT_UTF8),
    (b'{"user": "\\ud800", "query": ""}\n', Problem.NOT_JSON),
    (b'{"user": 21, "query": ' + b"[" * 3_000 + b"\n", Problem.NOT_JSON),
    (b'{"user": NaN, "query": "a", "url": "x.example"}\n', Problem.NO_USER),
    (b'{"user": 22, "query": "' + b"\\" * 2_100_000 + b'"}\n', Problem.TOO_LONG),
    (b'{"query": "' + b"\xff" * 2_100_000 + b'", "user": 23}\n', Problem.NOT_UTF8),
    (b'{"query": {"user": "a"} "user": 24}\n', Problem.NOT_JSON),
    (b"\n", None),
]
YANDEX = [
    (b"0\tM\t1\t500\n", False),
    (b"0\t0\tQ\t0\t7\t1,2\t100,3\t101,4\n", None),
    (b"0\t1\tC\t0\t101\n", True),
    (b"0\t2\tC\t0\t10\n", Problem.CLICK_WITHOUT_RESULTS_PAGE),
    (b"0\t2\tC\t9\t101\n", Problem.CLICK_WITHOUT_RESULTS_PAGE),
    (b"8\t1\tC\t0\t101\n", Problem.NO_USER),
    (b"1\tM\t2\t501\r\n", False),
    (b"2\tM\t2\n", Problem.NO_USER),
    (b"words\n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b"0\t2\tX\t0\n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b"words \x01\n", Problem.CONTROL_CHARACTER),
    (b"words \xff\n", Problem.NOT_UTF8),
    (b"3\tM\t1\t502\n", False),
    (b"3\t0\tT\t0\t8\t1\x01,2" + b"".join(b"\t%d,%d" % (i, i) for i in range(200, 210)) + b"\n", None),
    (b"3\t\x011\tC\t0\t209\n", True),
    (b"3\t2\tQ\t1\t8\t1,2" + b"\t200,1" * 10 + b"\t\n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b"3\t3\tC\t1\t200\n", Problem.CLICK_WITHOUT_RESULTS_PAGE),
    (b"3\t4\tC\t2\t200" + b"\t" * 20 + b"\n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b"3\t4\tQ\t5\t8\t1,2\t200,1\n", None),
    (b"3\t4\tQ\t5\t8\t1,2\t200,1\n", None),
    (b"3\t5\tC\t5\t200\n", True),
    (b"4\tM\t1\t503\n", False),
    (b"4\t4\tQ\t5\t8\t1,2\t200,1\n", None),
    (b"4\t5\tC\t5\t200\n", Problem.SESSION_OF_SEVERAL_USERS),
    (b"4\tM\t1\t504\n", False),
    (b"4\tM\t1\t504\n", None),
    (b"4\tM\t1\t505\n", False),
    (b"4\tM\t1\n", None),
    (b"5\tM\t1\xff\t506\n", Problem.NOT_UTF8),
    (b"5\tM\t1\t\xff506\n", Problem.NOT_UTF8),
    (b"6\tM\t1\t507" + b"\tx" * 20 + b"\n", False),
    (b"\n", None),
]
LATE_USER = [
    (b"good,t,1,x.example\n", True),
    (b"\xff,t,2,x.example\n", Problem.NOT_UTF8),
    (b"a" * 2_000_000 + b",t,3,x.example\n", Problem.TOO_LONG),
    (b"control \x01 \x01 character,t,4,x.example\n", Problem.CONTROL_CHARACTER),
    (b"one,two,t,5,x.example\n", Problem.WRONG_NUMBER_OF_COLUMNS),
    (b'mid"dle,t,6,x.example\n', Problem.BROKEN_QUOTES),
    (b"\xff" * 2_000_000 + b",one,t,7,x.example\n", Problem.NOT_UTF8),
]
FORMATS = {
    "log.tsv": (b"user\tquery\turl\ttime\n", TSV, {*map(str, range(1, 23)), "24?"}),
    "log.csv": (b'user,"query",url\r\n', CSV, {*map(str, range(1, 17)), "a,b"}),
    "log.jsonl": (b"", JSONL, {*map(str, range(6)), '{"a":1}', *map(str, range(7, 24))} - {"20"}),
    "yandex.txt": (b"", YANDEX, {"500", "501", "502", "503", "504", "505", "506", "507"}),
    "query.csv": (b"query,time,user,url\n", LATE_USER, {*map(str, range(1, 5))}),
}
HEADERS = {
    "tsv": ("user\tquery\turl", "1\ta\tx.example", ".tsv"),
    "csv": ('"user",query,url', "1,a,x.example", ".csv"),
    "aol": ("AnonID\tQuery\tQueryTime\tItemRank\tClickURL", "1\ta\tt\t1\tx.example", ".txt"),
}


class Answer(NamedTuple):
    """All that an engine says about a log."""

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
    """A work that keeps all rows. It is no function of this module, because Spark's workers cannot import the module."""
    return lambda batches: pa.Table.from_pylist([row for batch in batches for row in batch.to_pylist()], schema)


def answer(engine, log, m) -> Answer:
    group, tally = engine.bound(log, m, KEY)
    parts = group.split(Fraction(1, 3), KEY, "test")
    return Answer(tally, group.users, records_of(group), counts_of(group), [records_of(part) for part in parts])


def write(folder, name, packed: bool = False):
    header, lines, _ = FORMATS[name]
    content = header + b"".join(line for line, _ in lines)
    path = folder / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


def expected_tally(lines) -> Tally:
    fates = [fate for _, fate in lines if fate is not None]
    problems = sorted(fate for fate in fates if isinstance(fate, Problem))
    records = sum(fate is True for fate in fates)  # a problem may be equal to it
    return Tally(len(fates), records, {problem: problems.count(problem) for problem in problems})


@pytest.mark.parametrize(("packed", "m"), [(False, 1), (False, 3), (True, 1)])
@pytest.mark.parametrize("name", FORMATS)
def test_every_kind_of_bad_row(engine, tmp_path, name, packed, m):
    source = find(write(tmp_path, name, packed))
    found = answer(engine, engine.read(source), m)
    reference = DuckDBEngine(portable=True)
    assert found.tally == expected_tally(FORMATS[name][1])
    assert found[1:] == answer(reference, reference.read(source), m)[1:]
    assert {user for user, *_ in found.records} == FORMATS[name][2]
    assert found.users * m == len(found.records) == len(FORMATS[name][2]) * m
    assert sorted(found.parts[0] + found.parts[1], key=repr) == found.records


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("made", ["aol", "yandex"])
def test_logs_of_real_proportions(engine, tmp_path, made, m):
    if made == "aol":
        write_aol(tmp_path, 20_000, files=2, compress=True)
    else:
        write_yandex(tmp_path / "log.txt.gz", 1_000)
    source, reference = find(tmp_path), DuckDBEngine(portable=True)
    found = answer(engine, engine.read(source), m)
    assert found == answer(reference, reference.read(source), m)
    assert found.tally.bad == 0
    assert min(len(part) for part in found.parts) > 0


def test_results_pages_that_share_a_name(engine, tmp_path):
    """They should not, but whichever line counts is the same on every engine."""
    pages = ["5\tQ\t0\t7\t1,2\t100,3\t101,4", "0\tQ\t0\t6\t1,2\t101,9\t100,8", "7\tT\t0\t5\t9,9\t101,4"]
    logs = [
        f"{n}\tM\t1\t{n}\n{n}\t{one}\n{n}\t{other}\n{n}\t9\tC\t0\t101\n"
        for n, (one, other) in enumerate(permutations(pages, 2))
    ]
    (tmp_path / "log.txt").write_text("".join(logs), encoding="utf-8")
    source, reference = find(tmp_path / "log.txt"), DuckDBEngine(portable=True)
    found = answer(engine, engine.read(source), 1)
    assert found == answer(reference, reference.read(source), 1)
    assert found.tally == Tally(12, 6, {})
    assert found.records[0] == ("0", "6", "https://domain4.example/101")  # the least query, and the least results


def test_a_record_by_hand(engine, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("where,who,what\nWWW.Google.com,1, GOOGLE \n,1,maps\n,2,\n", encoding="utf-8")
    group, tally = engine.bound(engine.read(find(path, columns=Columns("who", "what", "where"))), 1, KEY)
    assert records_of(group) == [("1", "google", "https://www.google.com/"), ("2", None, None)]
    assert counts_of(group) == [("google", "https://www.google.com/", 1)]
    assert (tally, tally.without_record) == (Tally(3, 1, {}), 2)


@pytest.mark.parametrize("m", [1, 3])
def test_parquet_and_tables(engine, tmp_path, m):
    data = pa.table(
        {
            "user": pa.array([1, 1, 2, None, 3, 4]),
            "query": pa.array(["a", "b", None, "c", "a" * 2_000_000, ""]).dictionary_encode(),
            "url": pa.array(
                ["x.example", "y.example", "x.example", "x.example", "x.example", "x.example"], pa.large_string()
            ),
        }
    )
    pq.write_table(data, tmp_path / "log.parquet")
    read = answer(engine, engine.read(find(tmp_path / "log.parquet")), m)
    reference = DuckDBEngine(portable=True)
    assert read == answer(engine, engine.load(data, PLAIN_COLUMNS, "table"), m)
    assert read == answer(reference, reference.load(data), m)
    assert read.tally == Tally(6, 2, {Problem.TOO_LONG: 1, Problem.NO_USER: 1})
    assert read.users == 4


@pytest.mark.parametrize("delimiter", [";", "|", "tab", "^", ".", "¦"])
def test_another_delimiter(engine, tmp_path, delimiter):
    d = {"tab": "\t"}.get(delimiter, delimiter)
    lines = [f'user{d}"query"{d}url', f"1{d}a,b{d}x", f'2{d}"say ""hi""{d} you"{d}x', f'3{d}mid"dle{d}x', f"4{d}a{d}b{d}c"]
    (tmp_path / "log.csv").write_text("\n".join(lines), encoding="utf-8")
    source = find(tmp_path / "log.csv", delimiter=delimiter)
    group, tally = engine.bound(engine.read(source), 1, KEY)
    said = f'say "hi"{d} you'.replace("\t", " ").replace("  ", " ")
    assert [(user, query) for user, query, _ in records_of(group)] == [("1", "a,b"), ("2", said), ("3", None), ("4", None)]
    assert tally == Tally(4, 2, {Problem.BROKEN_QUOTES: 1, Problem.WRONG_NUMBER_OF_COLUMNS: 1})


@pytest.mark.parametrize(
    ("encoding", "bad"),
    [("latin-1", None), ("cp1252", b"\x81"), ("utf-16", b"\x00\xd8"), ("utf-16-be", None), ("utf-32-le", b"\xff" * 4)],
)
@pytest.mark.parametrize("packed", [False, True])
def test_another_encoding(engine, tmp_path, encoding, bad, packed):
    parts = ["user,requête,url\r\n1,Été à Köln,x.example\n2,", None, ",x.example\n3,après,x.example"]
    content = b"".join(bad or b"" if part is None else part.encode(encoding) for part in parts)
    if encoding == "utf-16":  # one mark is enough
        content = content[:2] + content[2:].replace(b"\xff\xfe", b"")
    path = tmp_path / ("log.csv.gz" if packed else "log.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    source = find(path, columns=Columns(query="requête"), encoding=encoding)
    group, tally = engine.bound(engine.read(source), 1, KEY)
    assert [(user, query) for user, query, _ in records_of(group)] == [("1", "été à köln"), ("2", None), ("3", "après")]
    assert tally == Tally(3, 2, {Problem.NOT_UTF8: 1} if bad else {})
    assert [row["reason"] for row in engine.bad_rows(source)] == ["not UTF-8"] * bool(bad)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "float32", "pandas", "polars", "rows", "log.jsonl"])
def test_nan_is_a_missing_value(engine, tmp_path, kind):
    """In every column of numbers; as text it is a name like any other."""
    nan = float("nan")
    data = {"user": [1.0, nan, 2.0, None], "query": ["a", "b", None, "c"], "url": ["x.example"] * 4}
    table = pa.table(data)
    match kind:
        case "log.jsonl" | "parquet":
            path = tmp_path / ("log.jsonl" if kind == "log.jsonl" else "log.parquet")
            pq.write_table(table, path)
            if kind == "log.jsonl":
                path.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()), encoding="utf-8")
            log = engine.read(find(path))
        case "float32":
            log = engine.load(table.set_column(0, "user", table["user"].cast(pa.float32())), PLAIN_COLUMNS, "table")
        case "rows":
            rows = [(1, "a", "x.example"), (nan, "b", "x.example"), (2, nan, "x.example"), (None, "c", "x.example")]
            log = engine.load(as_table(rows), PLAIN_COLUMNS, "table")
        case _:
            frame = {"arrow": pa.table, "pandas": pd.DataFrame, "polars": partial(pl.DataFrame, strict=False)}[kind](data)
            log = engine.load(as_table(frame), PLAIN_COLUMNS, "table")
    group, tally = engine.bound(log, 1, KEY)
    assert tally == Tally(4, 1, {Problem.NO_USER: 2})
    assert [user.removesuffix(".0") for user, *_ in records_of(group)] == ["1", "2"]
    texts = pa.table({"user": ["nan", "NaN"], "query": ["nan"] * 2, "url": ["x.example"] * 2})
    assert engine.bound(engine.load(texts, PLAIN_COLUMNS, "table"), 1, KEY)[1] == Tally(2, 2, {})


@pytest.mark.parametrize("m", [1, 3])
def test_one_users_session_line_takes_nobodys_click(engine, tmp_path, m):
    """A session of two users has no record, and both of them count."""
    session = "{0}\tM\t1\t{1}\n{0}\t0\tQ\t0\t7\t1,2\t100,3\n{0}\t1\tC\t0\t100\n"
    log = session.format(0, 500) + session.format(1, 400) + session.format(2, 300)
    intruder = "1\tM\t1\t399\n"
    for content in (log + intruder, intruder + log):
        (tmp_path / "log.txt").write_text(content, encoding="utf-8")
        group, tally = engine.bound(engine.read(find(tmp_path / "log.txt")), m, KEY)
        held = {user: query for user, query, _ in records_of(group) if query}
        assert held == {"300": "7", "500": "7"}
        assert {user for user, *_ in records_of(group)} == {"300", "399", "400", "500"}
        assert tally == Tally(7, 2, {Problem.SESSION_OF_SEVERAL_USERS: 1})


def test_users_of_sessions_without_a_usable_name_count(engine, tmp_path):
    """Also if there are several, and whatever stands for null inside the reader."""
    content = "0\tM\t1\t500\n\tM\t1\t3\n\tM\t1\t4\n\x02\tM\t1\t5\n\x02\tM\t1\t6\n"
    (tmp_path / "log.txt").write_text(content, encoding="utf-8")
    group, _ = engine.bound(engine.read(find(tmp_path / "log.txt", "yandex")), 1, KEY)
    assert [user for user, *_ in records_of(group)] == ["3", "4", "5", "500", "6"]


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.parquet", "table"])
def test_single_items(engine, tmp_path, name):
    """A log without a column of URLs."""
    columns, data = Columns(url=None), pa.table({"user": ["1", "1", "2", ""], "query": ["A", "a ", "", "b"]})
    path = tmp_path / name
    path.write_text("".join(f"{json.dumps(row)}\n" for row in data.to_pylist()), encoding="utf-8")
    if name == "log.csv":
        path.write_text("user,query\n1,A\n1,a \n2,\n,b\n", encoding="utf-8")
    if name == "log.parquet":
        pq.write_table(data, path)
    log = engine.load(data, columns, "table") if name == "table" else engine.read(find(path, columns=columns))
    group, tally = engine.bound(log, 1, KEY)
    assert tally == Tally(4, 2, {Problem.NO_USER: 1})
    assert records_of(group) == [("1", "a", None), ("2", None, None)]
    assert counts_of(group) == [("a", None, 1)]


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("suffix", [".tsv", ".parquet"])
def test_an_empty_log(engine, tmp_path, suffix, m):
    path = tmp_path / f"log{suffix}"
    path.write_bytes(b"user\tquery\turl\n")
    if suffix == ".parquet":
        pq.write_table(RECORDS.empty_table(), path)
    found = answer(engine, engine.read(find(path)), m)
    assert found == Answer(Tally(0, 0, {}), 0, [], [], [[], []])


def test_parts_and_shared_users(engine):
    data = pa.Table.from_pylist([{"user": f"u{i}", "query": "q", "url": "x.example"} for i in range(20)])
    group, _ = engine.bound(engine.load(data, PLAIN_COLUMNS, "table"), 1, KEY)
    named, others = group.part(pa.array(["u3", "u5", None, "u5", "nobody"]))
    assert [user for user, *_ in records_of(named)] == ["u3", "u5"]
    assert (named.users, others.users) == (2, 18)
    assert (named.shared_users(others), named.shared_users(group), group.shared_users(named)) == (0, 2, 2)
    assert [part.users for part in group.part(pa.array([], pa.null()))] == [0, 20]


def test_a_file_that_is_cut_off(engine, tmp_path):
    (path,) = write_aol(tmp_path, 40_000, compress=True)  # more than `find` reads of it
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    reference, source = DuckDBEngine(portable=True), find(tmp_path)
    found = answer(engine, engine.read(source), 1)
    assert found == answer(reference, reference.read(source), 1)
    assert found.tally.problems == {Problem.FILE_CUT_OFF: 1}
    assert found.tally.rows > 10_000


def test_bad_rows_of_a_file_that_is_cut_off(engine, tmp_path):
    """Each once, though it is found only at the end that a file is cut off."""
    texts = [hashlib.md5(str(i).encode(), usedforsecurity=False).hexdigest() for i in range(60_000)]
    lines = ["user\tquery\turl", *(f"{text}\tq\tx.example" if i % 1000 else "\tq\tx" for i, text in enumerate(texts))]
    content = gzip.compress("\n".join(lines).encode())
    (tmp_path / "1.tsv").write_text("user\tquery\turl\n" + "\tq\tx\n" * 300_000, encoding="utf-8")
    (tmp_path / "2.tsv.gz").write_bytes(content[: len(content) // 2])
    source = find(tmp_path)
    _, tally = engine.bound(engine.read(source), 1, KEY)
    found = Counter(row["reason"] for row in engine.bad_rows(source))
    assert found == {str(problem): rows for problem, rows in tally.problems.items()}
    assert 300_000 < tally.problems[Problem.NO_USER] < 300_060
    assert tally.problems[Problem.FILE_CUT_OFF] == 1


@pytest.mark.parametrize("name", HEADERS)
def test_only_the_first_line_of_a_file_is_a_header(engine, tmp_path, name):
    """A person can be called like a column, and search for one."""
    header, row, suffix = HEADERS[name]
    (tmp_path / f"1{suffix}").write_text(f"{header}\n{row}\n{header}\n{header}\n", encoding="utf-8")
    (tmp_path / f"2{suffix}").write_text(f"\ufeff{header}\r\n{header}", encoding="utf-8")
    (tmp_path / f"3{suffix}.gz").write_bytes(gzip.compress(f"{header}\n".encode()))
    group, tally = engine.bound(engine.read(find(tmp_path)), 1, KEY)
    assert tally == Tally(4, 4, {})
    assert [user for user, *_ in records_of(group)] == ["1", "AnonID" if name == "aol" else "user"]
    assert counts_of(group)[0] == ("a", "https://x.example/", 1)


def test_a_damaged_file_is_an_error_that_quotes_nothing(engine, tmp_path):
    path = tmp_path / "log.parquet"
    path.write_bytes(b"PAR1 a secret row PAR1")
    with pytest.raises(LogError, match="cannot be read") as caught:
        engine.bound(engine.read(find(path)), 1, KEY)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_column_that_is_missing(engine, tmp_path):
    pq.write_table(RECORDS.empty_table(), tmp_path / "log.parquet")
    with pytest.raises(LogError, match="no column 'who' for the user; its columns are user, query, url"):
        engine.read(find(tmp_path / "log.parquet", columns=Columns("who")))
    with pytest.raises(LogError, match="no column 'who' for the user; its columns are user, query, url"):
        engine.load(RECORDS.empty_table(), Columns("who"), "table")


@pytest.mark.parametrize("name", ["log[1].tsv", "log*{a,b}?.tsv", "log 100%20 é.tsv", "back\\slash.tsv"])
def test_a_name_is_no_pattern(engine, tmp_path, name):
    for other in (name, "log1.tsv", "loga.tsv"):
        (tmp_path / other).write_text(f"user\tquery\turl\n1\t{'right' if other == name else 'wrong'}\tx.example\n", "utf-8")
    group, _ = engine.bound(engine.read(find(tmp_path / name)), 1, KEY)
    assert records_of(group) == [("1", "right", "https://x.example/")]


def test_reports_are_counted(engine, tmp_path):
    lines = ['{"head_list": "d", "cell": 1}'] * 3 + ['{"head_list": "d", "cell": 0}', '{"head_list": "e", "cell": 0}']
    lines += ['{"head_list": "d", "cell": 2}', '{"head_list": "d", "cell": -1}', '{"head_list": "d"}', "words"]
    (tmp_path / "reports.jsonl").write_text("\n".join(lines), encoding="utf-8")
    counts, tally = engine.report_counts(find(tmp_path / "reports.jsonl"), "d", 2)
    problems = {Problem.NOT_JSON: 1, Problem.ANOTHER_HEAD_LIST: 1, Problem.NO_SUCH_CELL: 3}
    assert (counts.tolist(), tally) == ([1, 3], Tally(9, 4, problems))


def test_clients_report_where_the_rows_are(engine, small_list):
    """As many reports as users, and none of them is random in the same way: the streams differ between workers."""
    data = pa.Table.from_pylist([{"user": f"u{i}", "query": "google", "url": "www.google.com"} for i in range(3_000)])
    group, _ = engine.bound(engine.load(data, PLAIN_COLUMNS, "table"), 1, KEY)
    channel = Channel.of(small_list, 1, Fraction(1, 100), Fraction(85, 100))
    work = partial(counted_reports, head_list=small_list, channel=channel, entropy=Entropy.system())
    first, second = sum_counts(group.over_records(work)), sum_counts(group.over_records(work))
    assert first.sum() == second.sum() == group.users == 3_000
    assert first.tolist() != second.tolist()
