"""Every engine treats damaged files, odd names and missing columns in the same way."""

from __future__ import annotations

import gzip

import pyarrow.parquet as pq
import pytest

from blender_dp import Columns, LogError
from blender_dp.engines import DuckDBEngine
from blender_dp.logs import Problem, Tally, find
from tests.engines.answers import KEY, RECORDS, Answer, answer, counts_of, records_of
from tests.engines.bad_lines import HEADERS
from tests.generators.aol import write_aol

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("suffix", [".tsv", ".parquet"])
def test_an_empty_log_has_no_users(engine, tmp_path, suffix, m):
    path = tmp_path / f"log{suffix}"
    path.write_bytes(b"user\tquery\turl\n")
    if suffix == ".parquet":
        pq.write_table(RECORDS.empty_table(), path)
    found = answer(engine, engine.read(find(path)), m)
    assert found == Answer(Tally(0, 0, {}), 0, [], [], [[], []])


def test_the_readable_part_of_a_truncated_file_is_used(engine, tmp_path):
    (path,) = write_aol(tmp_path, 40_000, compress=True)  # more than `find` reads of it
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    reference, source = DuckDBEngine(portable=True), find(tmp_path)
    found = answer(engine, engine.read(source), 1)
    assert found == answer(reference, reference.read(source), 1)
    assert found.tally.problems == {Problem.FILE_CUT_OFF: 1}
    assert found.tally.rows > 10_000


@pytest.mark.parametrize("name", HEADERS)
def test_only_the_first_line_of_a_file_is_a_header(engine, tmp_path, name):
    """A user id or a query can be the same as a column name."""
    header, row, suffix = HEADERS[name]
    (tmp_path / f"1{suffix}").write_text(f"{header}\n{row}\n{header}\n{header}\n", encoding="utf-8")
    (tmp_path / f"2{suffix}").write_text(f"\ufeff{header}\r\n{header}", encoding="utf-8")
    (tmp_path / f"3{suffix}.gz").write_bytes(gzip.compress(f"{header}\n".encode()))
    group, tally = engine.bound(engine.read(find(tmp_path)), 1, KEY)
    assert tally == Tally(4, 4, {})
    assert [user for user, *_ in records_of(group)] == ["1", "AnonID" if name == "aol" else "user"]
    assert counts_of(group)[0] == ("a", "https://x.example/", 1)


def test_the_error_for_a_damaged_file_does_not_quote_it(engine, tmp_path):
    path = tmp_path / "log.parquet"
    path.write_bytes(b"PAR1 a secret row PAR1")
    with pytest.raises(LogError, match="cannot be read") as caught:
        engine.bound(engine.read(find(path)), 1, KEY)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_missing_column_is_an_error(engine, tmp_path):
    pq.write_table(RECORDS.empty_table(), tmp_path / "log.parquet")
    with pytest.raises(LogError, match="no column 'who' for the user; its columns are user, query, url"):
        engine.read(find(tmp_path / "log.parquet", columns=Columns("who")))
    with pytest.raises(LogError, match="no column 'who' for the user; its columns are user, query, url"):
        engine.load(RECORDS.empty_table(), Columns("who"), "table")


@pytest.mark.parametrize("name", ["log[1].tsv", "log*{a,b}?.tsv", "log 100%20 é.tsv", "back\\slash.tsv"])
def test_an_existing_file_name_is_not_treated_as_a_pattern(engine, tmp_path, name):
    for other in (name, "log1.tsv", "loga.tsv"):
        (tmp_path / other).write_text(f"user\tquery\turl\n1\t{'right' if other == name else 'wrong'}\tx.example\n", "utf-8")
    group, _ = engine.bound(engine.read(find(tmp_path / name)), 1, KEY)
    assert records_of(group) == [("1", "right", "https://x.example/")]
