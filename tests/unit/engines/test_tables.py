"""The engine with two methods in docs/big-logs.md counts the same as DuckDB."""

from __future__ import annotations

import re
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blender_dp import Blender, Columns, Entropy, LogError, ParameterError, aol_like
from blender_dp.engines import DuckDBEngine
from blender_dp.logs import PLAIN_COLUMNS, Problem, Tally, find
from tests.conftest import ROOT

DATA = pa.concat_tables(
    [
        *(aol_like(seed, users=500) for seed in range(4)),  # four records for every user
        pa.table({"user": ["", None, "x", "y"], "query": ["q", "q", None, "a" * 2_000_000], "url": ["a", "b", "c", "d"]}),
    ]
)


@pytest.fixture(scope="module")
def sqlite():
    """The engine from the documentation."""
    (block,) = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "docs/big-logs.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    namespace: dict[str, type] = {}
    exec(block.partition("\n\nrelease = ")[0], namespace)  # noqa: S102
    return namespace["SQLiteEngine"]


def answer(engine, log):
    group, tally = engine.bound(log, 1, "k")
    groups = [group, *group.split(Fraction(1, 3), "k", "test"), *group.part(pa.array(["3", None, "7"]))]
    rows = [sorted(map(repr, table.to_pylist())) for part in groups for table in part.over_records(pa.Table.from_batches)]
    (counts,) = group.over_record_counts(pa.Table.from_batches)
    shared = groups[3].shared_users(group), groups[3].shared_users(groups[4])
    return tally, [part.users for part in groups], rows, sorted(map(repr, counts.to_pylist())), shared


@pytest.mark.parametrize("columns", [PLAIN_COLUMNS, Columns(url=None)])
@pytest.mark.slow
def test_it_counts_what_duckdb_counts(sqlite, tmp_path, columns):
    pq.write_table(DATA, tmp_path / "log.parquet")
    source, reference = find(tmp_path / "log.parquet", columns=columns), DuckDBEngine(portable=True)
    expected = answer(reference, reference.read(source))
    for log in ("read", "load"):
        engine = sqlite()
        found = answer(engine, engine.read(source) if log == "read" else engine.load(DATA, columns, "table"))
        assert found == expected
    assert expected[0] == Tally(2004, 2000, {Problem.TOO_LONG: 1, Problem.NO_USER: 2})
    assert expected[-1] == (2, 0)
    assert engine.progress() < 0
    assert [row["reason"] for row in engine.bad_rows(source)].count("no user") == 2


def test_a_seeded_run_is_repeatable(sqlite):
    releases = [
        Blender(epsilon=4, delta=1e-5).run_log(DATA, 0.5, key=b"k", entropy=Entropy.seeded(1), engine=sqlite())
        for _ in range(2)
    ]
    assert releases[0] == releases[1]


def test_it_refuses_text_files(sqlite, tmp_path):
    (tmp_path / "log.csv").write_text("user,query,url\n", encoding="utf-8")
    with pytest.raises(LogError, match="does not read csv"):
        sqlite().read(find(tmp_path / "log.csv"))


def test_a_count_that_its_sql_cannot_express_is_an_error(sqlite):
    with pytest.raises(ParameterError, match="Ibis cannot express this count in sqlite"):
        Blender(epsilon=4, delta=1e-5, m_c=2, profile="paper").run_log(DATA, 0.5, engine=sqlite())
