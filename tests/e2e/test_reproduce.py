"""blender-dp reproduce, as a user runs it."""

from __future__ import annotations

import json

import pyarrow.csv
import pytest


def test_the_figures_are_listed(command):
    done = command("reproduce", "list")
    assert done.returncode == 0, done.stderr
    assert "figure-13" in done.stdout
    assert "usenix-figure-9" in done.stdout
    names = [one["name"] for one in json.loads(command("reproduce", "list", "--json").stdout)]
    assert len(names) == len(set(names)) == 15


@pytest.mark.slow
def test_a_table_is_written_in_every_format(command, tmp_path):
    done = command("reproduce", "figure-11", "--out", "made")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("agrees") == 2
    assert {path.suffix for path in (tmp_path / "made").iterdir()} == {".csv", ".parquet", ".svg", ".png", ".json", ".html"}
    assert pyarrow.csv.read_csv(tmp_path / "made/figure-11.csv").num_rows == 16


@pytest.mark.slow
def test_a_figure_is_made_from_a_log(command, log, tmp_path):
    plain = tmp_path / "log.csv"
    plain.write_text(log.read_text().replace('"who","what","where"', '"user","query","url"', 1))
    first = command(
        "reproduce", "figure-10", "--seeds", "1", "--log", "log.csv", "--out", "made", "--workers", "1", "--json"
    )
    assert first.returncode == 0, first.stderr
    (figure,) = json.loads(first.stdout)["figures"]
    assert len(figure["claims"]) == 4
    assert all(bool(claim["why"]) != claim["agrees"] for claim in figure["claims"])
    assert {row["line"] for row in figure["rows"]} >= {"paper", "tight", "printed"}
    page = (tmp_path / "made/index.html").read_text()
    assert "AOL: log.csv" in page
    assert "do not publish them" in page


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--out", "file"), "out: 'file' is a file"),
        (("--user", "who"), "user: --user says how to read a log"),
    ],
)
def test_what_cannot_work_is_refused_at_once(command, tmp_path, arguments, text):
    (tmp_path / "file").write_text("")
    done = command("reproduce", "figure-11", *arguments)
    assert done.returncode == 2
    assert text in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"file"}


def test_an_unknown_figure_is_refused(command, tmp_path):
    done = command("reproduce", "figure-99")
    assert done.returncode == 2
    assert "reproduce list" in done.stderr
    assert not list(tmp_path.iterdir())
