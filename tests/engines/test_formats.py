"""Every engine reads the same records from every format, delimiter and encoding."""

from __future__ import annotations

import gzip
import json
from functools import partial

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blender_dp import Columns
from blender_dp.engines import DuckDBEngine
from blender_dp.logs import PLAIN_COLUMNS, Problem, Tally, as_table, find
from tests.engines.answers import KEY, answer, counts_of, records_of

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


def test_a_small_log_gives_the_expected_records(engine, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("where,who,what\nWWW.Google.com,1, GOOGLE \n,1,maps\n,2,\n", encoding="utf-8")
    group, tally = engine.bound(engine.read(find(path, columns=Columns("who", "what", "where"))), 1, KEY)
    assert records_of(group) == [("1", "google", "https://www.google.com/"), ("2", None, None)]
    assert counts_of(group) == [("google", "https://www.google.com/", 1)]
    assert (tally, tally.without_record) == (Tally(3, 1, {}), 2)


@pytest.mark.parametrize("m", [1, 3])
def test_parquet_files_and_tables_give_the_same_records(engine, tmp_path, m):
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
def test_another_delimiter_gives_the_same_records(engine, tmp_path, delimiter):
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
@pytest.mark.parametrize("compressed", [False, True])
def test_another_encoding_gives_the_same_records(engine, tmp_path, encoding, bad, compressed):
    parts = ["user,requête,url\r\n1,Été à Köln,x.example\n2,", None, ",x.example\n3,après,x.example"]
    content = b"".join(bad or b"" if part is None else part.encode(encoding) for part in parts)
    if encoding == "utf-16":  # one mark is enough
        content = content[:2] + content[2:].replace(b"\xff\xfe", b"")
    path = tmp_path / ("log.csv.gz" if compressed else "log.csv")
    path.write_bytes(gzip.compress(content) if compressed else content)
    source = find(path, columns=Columns(query="requête"), encoding=encoding)
    group, tally = engine.bound(engine.read(source), 1, KEY)
    assert [(user, query) for user, query, _ in records_of(group)] == [("1", "été à köln"), ("2", None), ("3", "après")]
    assert tally == Tally(3, 2, {Problem.NOT_UTF8: 1} if bad else {})
    assert [row["reason"] for row in engine.bad_rows(source)] == ["not UTF-8"] * bool(bad)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "float32", "pandas", "polars", "rows", "log.jsonl"])
def test_nan_is_a_missing_value(engine, tmp_path, kind):
    """In every numeric column, with either sign (0/0 is negative); the string "nan" is an ordinary value."""
    nan = float("nan")
    data = {"user": [1.0, nan, -nan, 2.0, None], "query": ["a", "b", "b", None, "c"], "url": ["x.example"] * 5}
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
            pairs = [(1, "a"), (nan, "b"), (-nan, "b"), (2, nan), (None, "c")]
            rows = [(user, query, "x.example") for user, query in pairs]
            log = engine.load(as_table(rows), PLAIN_COLUMNS, "table")
        case _:
            frame = {"arrow": pa.table, "pandas": pd.DataFrame, "polars": partial(pl.DataFrame, strict=False)}[kind](data)
            log = engine.load(as_table(frame), PLAIN_COLUMNS, "table")
    group, tally = engine.bound(log, 1, KEY)
    assert tally == Tally(5, 1, {Problem.NO_USER: 3})
    assert [user.removesuffix(".0") for user, *_ in records_of(group)] == ["1", "2"]
    texts = pa.table({"user": ["nan", "NaN"], "query": ["nan"] * 2, "url": ["x.example"] * 2})
    assert engine.bound(engine.load(texts, PLAIN_COLUMNS, "table"), 1, KEY)[1] == Tally(2, 2, {})


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.parquet", "table"])
def test_a_log_without_urls_has_single_items(engine, tmp_path, name):
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
