"""Tables, files and groups that a run accepts."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blender_dp import (
    Blender,
    Columns,
    Entropy,
    LogError,
    ParameterError,
    aol_like,
)
from blender_dp.engines import DuckDBEngine
from tests.unit.pipeline.runs import OPT_IN, POPULATION, blender, run

pytestmark = pytest.mark.slow  # a whole run for every test


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, "rows"])
def test_any_table_gives_the_same_release(kind):
    small = aol_like(2, users=4000)

    def convert(table: pa.Table):
        if kind == "rows":
            return ((row["user"], row["query"], row["url"]) for row in table.to_pylist())
        return kind(table.to_pydict())

    assert run(convert(small.slice(0, 2000)), convert(small.slice(2000))) == run(small.slice(0, 2000), small.slice(2000))


def test_row_order_and_repetition_do_not_matter():
    backwards = pa.concat_tables([OPT_IN.take(pa.array(range(OPT_IN.num_rows - 1, -1, -1))), OPT_IN.slice(0, 500)])
    assert run(backwards) == run()


def test_a_log_is_split_by_share_or_by_name():
    by_share = blender().run_log(POPULATION, 0.4, key=b"k", entropy=Entropy.seeded(1))
    assert abs(by_share.manifest.groups[0].users - 24_000) < 600
    names = OPT_IN["user"].to_pylist()
    by_name = blender().run_log(POPULATION, names, key=b"k", entropy=Entropy.seeded(1))
    assert by_name == run()
    assert blender().run_log(POPULATION, iter(names), key=b"k", entropy=Entropy.seeded(1)) == by_name


def test_named_users_are_never_also_clients():
    """A generator of names can be read only once, but two groups are made from it."""
    names = OPT_IN["user"].to_pylist()
    release = blender(m_c=2, profile="paper").run_log(
        POPULATION, (name for name in names), key=b"k", entropy=Entropy.seeded(1)
    )
    assert [group.users for group in release.manifest.groups] == [20_000, 40_000]


def test_a_log_can_be_a_file(tmp_path):
    path = tmp_path / "log.parquet"
    pq.write_table(POPULATION.rename_columns(["id", "text", "link"]), path)
    release = blender().run_log(path, 0.4, columns=Columns("id", "text", "link"), key=b"k", entropy=Entropy.seeded(1))
    assert release == blender().run_log(
        str(path), 0.4, columns=Columns("id", "text", "link"), key=b"k", entropy=Entropy.seeded(1)
    )
    assert release == blender().run_log(POPULATION, 0.4, key=b"k", entropy=Entropy.seeded(1))


def test_a_log_of_bad_rows_is_refused_before_anything_is_released(tmp_path):
    blender, heard = Blender(epsilon=4, delta=1e-5), []
    rows = [
        *((None, "q", "https://u.example/") for _ in range(30)),
        *((str(i), "q", "https://u.example/") for i in range(970)),
    ]
    with pytest.raises(LogError, match="30 of 1,000 rows are bad"):
        blender.run_log(rows, "0.5", on_tally=heard.append)
    assert (heard[0].rows, heard[0].bad) == (1000, 30)
    assert blender.run_log(rows, "0.5", max_bad="0.03").manifest.groups[0].users > 400


def test_both_simulations_give_a_release():
    rows = [(str(i), f"q{i % 2}", "https://u.example/") for i in range(4000)]
    for simulation in ("users", "cells"):
        release = Blender(epsilon=4, delta=1e-5).run_log(rows, "0.5", simulation=simulation)
        assert release.head_list.queries == ("q0", "q1")
        assert release.queries[0].client_share == pytest.approx(0.5, abs=0.1)
    with pytest.raises(ParameterError, match="Use users or cells"):
        Blender(epsilon=4, delta=1e-5).run_log(rows, "0.5", simulation="both")


def test_records_without_a_url_are_single_items():
    rows = [(str(i), "Crash 7" if i % 3 else "crash 8") for i in range(6000)]
    blender, items = Blender(epsilon=4, delta=1e-5), Columns(url=None)
    releases = [
        blender.run_log(rows, "0.5", columns=items),
        blender.run(
            rows[:3000], pa.table(dict(zip(("user", "query"), zip(*rows[3000:], strict=True), strict=True))), columns=items
        ),
    ]
    for release in releases:
        assert release.head_list.levels == 1
        assert release.head_list.queries == ("crash 7", "crash 8")
        assert release.queries[0].share == pytest.approx(2 / 3, abs=0.06)
    with pytest.raises(LogError, match=r"3 values.*\(user, query, url\)"):
        blender.run_log(rows, "0.5")


def test_a_seeded_run_needs_an_ordered_engine():
    for engine, entropy in ((DuckDBEngine(ordered=True), Entropy.seeded(1)), (DuckDBEngine(), Entropy.system())):
        assert blender().run_log(POPULATION, 0.4, key=b"k", entropy=entropy, engine=engine).head_list
    with pytest.raises(ParameterError, match=r"engine: rows come in any order.*ordered=True"):
        blender().run_log(POPULATION, 0.4, key=b"k", entropy=Entropy.seeded(1), engine=DuckDBEngine())
