"""What the command prints never controls the terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from blender_dp import Release
from blender_dp.cli.output import fail, note, print_files, print_json, print_table, say, warn
from tests.conftest import ROOT

HOSTILE = "a\x1b[2J\x9b1m\r\b\u202eb\u2066 [red]\tc\u200cd é 😀"
SHOWN = "a�[2J�1m���b� [red]"


@pytest.mark.parametrize("show", [say, note, warn, fail, lambda text: print_table(text, {"query": False}, [[text]])])
def test_control_characters_are_replaced_and_other_text_is_kept(show, capsys):
    """A release from elsewhere may contain anything; `[red]` is no markup, and joiners belong to words."""
    try:
        show(HOSTILE)
    except SystemExit as stopped:
        assert stopped.code == 2  # noqa: PT017 (only `fail` stops)
    printed = "".join(capsys.readouterr())
    assert SHOWN in printed
    assert "c\u200cd é 😀" in printed
    assert not set(printed) & set("\x1b\x9b\r\b\u202e\u2066")


def test_a_line_break_does_not_break_a_row(capsys):
    print_table("", {"query": False, "share": True}, [["one\ntwo", "0.1"]])
    assert capsys.readouterr().out.splitlines()[1] == "one\\ntwo    0.1"


@pytest.mark.parametrize("fold", [True, False])
def test_long_queries_do_not_make_every_row_long(capsys, fold):
    """A row of another query used to have 1,000 characters."""
    rows = [["q" * 5000, "https://x.example/" + "u" * 5000, "0.1"], ["google", "https://g.example/", "0.2"]]
    print_table("", {"query": False, "URL": False, "share": True}, rows, fold=fold)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 60 + 2 + 200 + 2 + 5
    assert printed.count("q") == 59 + 1  # and the name of the column
    assert printed.count("u") <= 200


def test_paths_are_never_shortened(capsys):
    path = Path("folder/" * 40, "release.json")
    print_files({"release": path})
    assert "".join(capsys.readouterr().out.split()).endswith(str(path))


def test_json_escapes_them_without_a_loss(capsys):
    print_json({HOSTILE: [HOSTILE]})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {HOSTILE: [HOSTILE]}
    assert not set(printed) & set("\x1b\x9b\r\b\u202e\u2066")


def _command(folder, encoding, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "blender_dp", *arguments],
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    return done.stdout.decode(encoding)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two releases that differ in their errors only."""
    path = tmp_path_factory.mktemp("two")
    old = Release.load(ROOT / "tests/unit/release/data/release-1.json")
    old = replace(old, manifest=replace(old.manifest, randomness="system"))
    new = replace(old, queries=tuple(replace(row, variance=row.variance * 1.01) for row in old.queries))
    for name, one in (("old", old), ("new", new)):
        one.save(path / f"{name}.json")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_every_verb_works_on_a_console_without_unicode(two, encoding):
    for arguments in (("trends", "old.json", "new.json"), ("compare", "old.json", "new.json"), ("disagreement", "old.json")):
        assert _command(two, encoding, *arguments)
    assert "trend" in _command(two, encoding, "trends", "old.json", "new.json").splitlines()[1]
    assert "?" not in _command(two, encoding, "trends", "old.json", "new.json")
    for verb in ((), ("trends",), ("plan",)):
        assert "Usage" in _command(two, encoding, *verb, "--help")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_json_and_yaml_lose_nothing_on_a_console_without_unicode(two, encoding):
    for read, arguments in ((json.loads, ("--json",)), (yaml.safe_load, ())):
        entry = ("registry", "old.json", "--name", "Τάσεις 😀", *arguments)
        assert read(_command(two, encoding, *entry)) == read(_command(two, "utf-8", *entry))
