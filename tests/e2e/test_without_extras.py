"""The package after `pip install blender-dp`, without extras: what works, and what the other verbs print."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from blender_dp.cli.app import app
from tests.conftest import ROOT

CREATE = ("--epsilon", "4", "--delta", "1e-6", "--max-epsilon", "16", "--token", "t")
WITHOUT = {  # verbs that need no extra; they run in this order, in one folder
    "demo": ("--users", "20000", "--out", "demo"),
    "run": ("demo/log.parquet", "--epsilon", "4", "--delta", "1e-5", "--opt-in", "0.1", "--out", "release"),
    "search": ("demo", "goo"),
    "trends": ("demo",),
    "compare": ("demo", "release"),
    "disagreement": ("demo",),
    "aggregate": ("reports.jsonl", "--head-list", "demo/head-list.json"),
    "audit": ("--epsilon", "4", "--delta", "1e-5", "--max-queries", "5"),
    "registry": ("release",),
    "plan": ("aol", "--users", "20000", "--epsilon", "4", "--delta", "1e-5"),
    "evaluate": ("aol", "--users", "20000", "--epsilon", "4", "--delta", "1e-5", "--seeds", "1", "--workers", "1"),
}
EXTRAS = {"serve": "collector", "demo-live": "collector", "reproduce": "plots"}  # what these verbs need
NOWHERE = ("--url", "http://127.0.0.1:9")
OPERATOR = {  # verbs that call a collector, which may run anywhere
    "simulate": ("searches", "--token", "t"),
    "ledger": (),
    "campaign create": ("searches", *CREATE),
    "campaign list": ("--token", "t"),
    "campaign enrol": ("searches", "--token", "t"),
    "campaign invite": ("searches",),
    "round open": ("searches", "--token", "t"),
    "round list": ("--token", "t"),
    "round make-list": ("--token", "t"),
    "round close": ("--token", "t"),
    "round abort": ("why", "--token", "t"),
    "round export": ("--out", "reports.parquet", "--token", "t"),
    "round show": ("--token", "t"),
}


def verbs(command: Any, before: tuple[str, ...] = ()) -> list[str]:
    """Every command that does something, by its full name."""
    if not hasattr(command, "commands"):
        return [" ".join(before)]
    return [verb for name, one in command.commands.items() for verb in verbs(one, (*before, name))]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the package and its required dependencies only."""
    uv, folder = Path(sys.executable).parent / "uv", tmp_path_factory.mktemp("bare") / "venv"
    install = [uv, "pip", "install", "--quiet", "--python", folder / "bin/python", "--constraint", ROOT / "constraints.txt"]
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    packages = ["--editable", ROOT / "device", "--editable", ROOT]
    done = subprocess.run([*install, *packages], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no package index can be reached, and the packages are not in uv's cache: {done.stderr.strip()[:300]}")
    return folder / "bin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


def run(bare: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BLENDER_DP_"))}
    return subprocess.run(
        [bare / words[0], *words[1:]],
        cwd=folder,
        env={**environment, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def says_what_to_install(done: subprocess.CompletedProcess[str], extra: str) -> bool:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("error: ")
    assert f"pip install 'blender-dp[{extra}]'" in done.stderr
    return True


def test_every_verb_is_covered_here():
    assert sorted({*WITHOUT, *OPERATOR, *EXTRAS}) == sorted(verbs(typer.main.get_command(app)))


def test_the_library_can_be_imported(bare: Path, folder: Path):
    script = "import blender_dp; [getattr(blender_dp, name) for name in blender_dp.__all__]"
    done = run(bare, folder, "python", "-c", script)
    assert (done.returncode, done.stderr) == (0, "")


def test_basic_verbs_work_and_spark_says_what_to_install(bare: Path, folder: Path):
    for verb, words in WITHOUT.items():
        if verb == "aggregate":
            assert run(bare, folder, "python", "-c", REPORTS).returncode == 0
        done = run(bare, folder, "blender-dp", verb, *words)
        assert done.returncode == 0, (verb, done.stderr)
        if verb in {"demo", "run"}:
            assert "pip install 'blender-dp[plots]'" in done.stderr
    assert not (folder / "demo/report.html").exists()
    assert says_what_to_install(
        run(bare, folder, "blender-dp", "run", *WITHOUT["run"], "--engine", "spark", "--force"), "spark"
    )
    again = run(bare, folder, "blender-dp", "aggregate", *WITHOUT["aggregate"], "--engine", "spark")
    assert says_what_to_install(again, "spark")


REPORTS = """
import json
from blender_dp_device.channel import Device
from blender_dp_device.records.reporting_list import ReportingList
listed = ReportingList.load("demo/head-list.json")
device = Device(listed, epsilon=4)
with open("reports.jsonl", "w") as file:
    for query, url in list(listed.head_list.records()) * 1000:
        for cell in device.report(query, url).cells:
            file.write(json.dumps({"head_list": listed.digest, "cell": cell}) + "\\n")
"""


@pytest.mark.parametrize("verb", EXTRAS)
def test_other_verbs_say_what_to_install(bare: Path, folder: Path, verb: str):
    words = ("list",) if verb == "reproduce" else ()
    assert says_what_to_install(run(bare, folder, "blender-dp", verb, *words), EXTRAS[verb])


@pytest.mark.parametrize("verb", OPERATOR)
def test_an_operator_needs_no_extra(bare: Path, folder: Path, verb: str):
    done = run(bare, folder, "blender-dp", *verb.split(), *OPERATOR[verb], *NOWHERE)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("error: collector: does not respond (ConnectionRefusedError). ")


def test_every_verb_has_help(bare: Path, folder: Path):
    verbs = ("", *EXTRAS, *WITHOUT, *OPERATOR)
    done = run(bare, folder, "python", "-c", HELP, *verbs)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Usage: blender-dp") == len(verbs)


HELP = """
import sys
from blender_dp.cli.app import app
for verb in sys.argv[1:]:
    app([*verb.split(), "--help"], prog_name="blender-dp", standalone_mode=False)
"""


@pytest.mark.parametrize(
    ("extra", "module"),
    [
        ("collector", "blender_dp.collector.rounds.facade"),
        ("plots", "blender_dp.report"),
        ("spark", "blender_dp.engines.spark"),
    ],
)
def test_an_import_says_what_to_install(bare: Path, folder: Path, extra: str, module: str):
    done = run(bare, folder, "python", "-c", f"import {module}")
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"blender_dp.errors.MissingExtraError: the extra '{extra}': is not installed")
    assert last.endswith(f"pip install 'blender-dp[{extra}]'.")
