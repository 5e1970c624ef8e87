"""blender-dp evaluate, as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.csv
import pytest

SMALL = ("--users", "8000", "--opt-in", "0.3", "--delta", "1e-5", "--seeds", "2", "--max-queries", "5")


@pytest.mark.slow
def test_a_grid_is_printed_and_written(command, tmp_path):
    done = command("evaluate", "aol", *SMALL, "--epsilon", "2,4", "--profile", "paper,tight", "--out", "grid.csv")
    assert done.returncode == 0, done.stderr
    assert "query L1" in done.stdout
    assert done.stdout.count("blended") == 4
    table = pyarrow.csv.read_csv(tmp_path / "grid.csv")
    assert set(table["epsilon"].to_pylist()) == {2, 4}
    assert {p.name for p in tmp_path.iterdir()} == {"grid.csv"}


@pytest.mark.slow
def test_options_replace_the_values_of_a_file(command, tmp_path):
    (tmp_path / "grid.toml").write_text(
        "users = 8000\nopt_in = 0.3\nepsilon = [1, 2, 3]\ndelta = 1e-5\nseeds = 2\nmax_queries = 5\nrobust = [true, false]\n"
    )
    done = command("evaluate", "--grid", "grid.toml", "--epsilon", "4", "--robust", "false", "--json", "--workers", "1")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {(row["epsilon"], row["robust"], row["seeds"]) for row in rows} == {(4, False, 2)}


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        (("--epsilon", "4"), "delta"),
        (("--epsilon", "4,x", "--delta", "1e-5"), "epsilon"),
        (("--epsilon", "4", "--delta", "1e-5", "--robust", "maybe"), "robust"),
        (("--epsilon", "4", "--delta", "1e-5", "--max-queries", "2.5"), "max_queries"),
        (("--epsilon", "4", "--delta", "1e-5", "--out", "grid.xlsx"), "out"),
        (("bing", "--epsilon", "4", "--delta", "1e-5", "--workers", "1"), "shape"),
        (("aol", "--epsilon", "4", "--delta", "1e-5", "--user", "5000"), "--user says how to read a log"),
        (("aol", "--epsilon", "4", "--delta", "1e-5", "--out", "/dev/null/grid.csv"), "out"),
    ],
)
def test_bad_input_is_one_line(command, tmp_path, arguments, subject):
    done = command("evaluate", *arguments)
    assert done.returncode == 2
    assert subject in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_errors_of_an_empty_list_are_not_shown_as_perfect(command):
    done = command(
        "evaluate", "aol", "--users", "3000", "--epsilon", "1", "--delta", "1e-5", "--seeds", "1", "--workers", "1"
    )
    (blended,) = [line.split() for line in done.stdout.splitlines() if line.startswith("blended")]
    assert blended == ["blended", "0.0", "-", "-", "-"]


def test_a_demo_with_invalid_parameters_writes_nothing(command, tmp_path):
    done = command("demo", "--users", "2000", "--epsilon", "0")
    assert done.returncode == 2
    assert "epsilon" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_demo_takes_the_same_parameters(command):
    done = command("demo", "--users", "60000", "--profile", "paper", "--epsilon", "3", "--opt-in", "0.1", "--json")
    assert done.returncode == 0, done.stderr
    manifest = json.loads(done.stdout)["manifest"]
    assert manifest["settings"]["epsilon"] == "3"
    assert manifest["settings"]["estimator"] == "average"
    assert manifest["groups"][0]["users"] == pytest.approx(6000, rel=0.1)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="only POSIX has process groups, which Ctrl-C in a terminal signals")
def test_ctrl_c_ends_all_processes_at_once_and_keeps_what_is_finished(executable, tmp_path):
    arguments = [executable, "reproduce", "figure-13", "--seeds", "2", "--workers", "2", "--out", "r"]
    with subprocess.Popen(arguments, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True) as running:
        deadline = time.monotonic() + 120
        while not _finished_cells(tmp_path):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        os.killpg(running.pid, signal.SIGINT)
        _, errors = running.communicate(timeout=60)  # also waits for the workers, which have the pipe as well
    assert running.returncode == 130
    assert b"Traceback" not in errors
    assert 0 < _finished_cells(tmp_path) < 200  # with each seed, 214 cells that take several seconds


def _finished_cells(folder: Path) -> int:
    return sum(file.read_text().count('"key"') for file in folder.glob("r/.cells/*"))
