from __future__ import annotations

import numpy as np
import pytest

import blender_dp
from blender_dp import ParameterError
from blender_dp.evaluation import runs
from blender_dp.evaluation.grid import Grid
from blender_dp.evaluation.runs import run_settings
from blender_dp.evaluation.summary import summarise

SMALL = {"users": 8000, "opt_in": "0.3", "delta": "1e-5", "max_queries": 5}
GRID = Grid.of({**SMALL, "epsilon": [3, 4], "profile": ["paper", "tight"]})


@pytest.fixture(scope="module")
def rows():
    return run_settings(GRID.settings, 2)


def test_every_setting_seed_and_group_has_a_row(rows):
    assert rows.num_rows == 4 * 2 * 3
    assert set(rows["group"].to_pylist()) == {"opt-in", "client", "blended"}
    assert set(rows["seed"].to_pylist()) == {0, 1}
    assert set(rows["users"].to_pylist()) == {8000}
    assert min(rows["ndcg"].to_pylist()) > 0.2


def test_the_same_grid_gives_the_same_rows(rows):
    assert run_settings(reversed(GRID.settings), 2).equals(rows)


def test_means_and_standard_errors_are_over_the_seeds(rows):
    table = summarise(rows)
    assert table.num_rows == 4 * (3 * 3 + 8)
    chosen = [r for r in rows.to_pylist() if (r["epsilon"], r["profile"], r["group"]) == (4, "paper", "blended")]
    values = [row["query_l1"] for row in chosen]
    (summary,) = [
        r for r in table.to_pylist()
        if (r["epsilon"], r["profile"], r["group"], r["measure"]) == (4, "paper", "blended", "query_l1")
    ]  # fmt: skip
    assert summary["seeds"] == 2
    assert summary["mean"] == pytest.approx(np.mean(values))
    assert summary["standard_error"] == pytest.approx(np.std(values, ddof=1) / 2**0.5)


def test_an_interrupted_run_continues_with_what_is_missing(rows, tmp_path, monkeypatch):
    run_settings(GRID.settings[:2], 2, folder=tmp_path)
    files = list(tmp_path.iterdir())
    assert len(files) == 2
    files[0].write_text(files[0].read_text()[:-20])  # as an interruption would
    ran = []
    real = runs.run_cells
    monkeypatch.setattr(runs, "run_cells", lambda *job: ran.extend(job[2]) or real(*job))
    seen = []
    again = run_settings(GRID.settings, 2, folder=tmp_path, progress=lambda *done: seen.append(done))
    assert again.equals(rows)
    assert len(ran) == 2 * 2 + 1  # the two missing settings with both seeds, and the cell that was cut off
    assert seen[-1] == (8, 8)
    ran.clear()
    assert run_settings(GRID.settings, 2, folder=tmp_path).equals(rows)
    assert ran == []


def test_a_cell_of_other_code_is_run_again(tmp_path, monkeypatch):
    run_settings(GRID.settings[:1], 1, folder=tmp_path)
    ran = []
    real = runs.run_cells
    monkeypatch.setattr(runs, "run_cells", lambda *job: ran.extend(job[2]) or real(*job))
    monkeypatch.setattr(runs, "code_digest", lambda: "other code")
    run_settings(GRID.settings[:1], 1, folder=tmp_path)
    assert len(ran) == 1


@pytest.mark.parametrize(
    "damage",
    [
        b"3",
        b"[]",
        b'{"key": 1, "digest": "%s", "rows": []}',
        b'{"key": "KEY", "rows": []}',
        b'{"key": "KEY", "digest": "another", "rows": []}',
        b'{"key": "KEY", "digest": "%s", "rows": [{}]}',
        b'{"key": "KEY", "digest": "%7", "rows": 7}',
        b'{"key": "KEY", "digest": "%s", "rows": []',
        b"[" * 100_000,
        b"\xff",
    ],
    ids=str,
)
def test_a_damaged_line_is_no_cell(tmp_path, damage):
    damage = damage.replace(b"%s", runs._digest_of([]).encode()).replace(b"%7", runs._digest_of(7).encode())
    path = tmp_path / "cells.jsonl"
    runs._append(path, "good", [])
    with path.open("ab") as file:
        file.write(b"\n" + damage)
    runs._append(path, "also good", [])
    assert runs._read(path) == {"good": [], "also good": []}


@pytest.mark.parametrize(
    ("old", "new"), [('"ndcg": 0.', '"ndcg": 7.'), ('"cell": "', '"cell": "x'), ('"seed": 0', '"seed": null')]
)
def test_a_damaged_value_is_measured_again(tmp_path, old, new):
    rows = run_settings(GRID.settings[:1], 1, folder=tmp_path)
    (file,) = tmp_path.iterdir()
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    assert run_settings(GRID.settings[:1], 1, folder=tmp_path).equals(rows)


@pytest.mark.slow
def test_several_workers_divide_one_population_and_report_every_cell(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "_LOOK", 0.001)
    seen = []
    rows = run_settings(
        GRID.settings, 1, workers=2, folder=tmp_path, progress=lambda done, total: seen.append((done, total))
    )
    assert rows.equals(run_settings(GRID.settings, 1))
    assert seen[-1] == (4, 4)
    assert {(1, 4), (2, 4), (3, 4)} & set(seen)
    assert [len(settings) for _, _, settings in runs._divided([(None, 0, [1, 2, 3])], 2)] == [2, 1]
    assert [len(settings) for _, _, settings in runs._divided([(None, 0, [1]), (None, 1, [1, 2])], 2)] == [1, 2]


@pytest.mark.parametrize(("name", "value"), [("workers", 0), ("workers", -1), ("seeds", 0)])
def test_numbers_of_workers_and_seeds_are_checked(name, value):
    with pytest.raises(ParameterError, match=name):
        blender_dp.evaluate("zipf:1.1", epsilon=4, **{**SMALL, name: value})


def test_a_changed_log_is_measured_again(tmp_path):
    log = tmp_path / "log.csv"
    text = "user,query,url\n" + "".join(f"{i},query {i % 3},https://a.example/\n" for i in range(1500))
    log.write_text(text)
    grid = Grid.of({"source": str(log), "opt_in": "0.3", "epsilon": 4, "delta": "1e-5"})
    before = run_settings(grid.settings, 1, folder=tmp_path / "cells")
    log.write_text(text.replace("query 2", "query 1"))
    after = run_settings(grid.settings, 1, folder=tmp_path / "cells")
    assert (before["listed"][0].as_py(), after["listed"][0].as_py()) == (3, 2)


@pytest.mark.slow
def test_the_library_call_returns_an_arrow_table():
    table = blender_dp.evaluate("zipf:1.1", epsilon=4, seeds=2, **SMALL)
    chosen = {(row["group"], row["measure"]): row["mean"] for row in table.to_pylist()}
    assert chosen["blended", "listed"] == 5
    assert 0 < chosen["blended", "query_l1"] < 0.2
