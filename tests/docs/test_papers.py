"""The page from the papers to the code names everything, and everything that it names exists."""

from __future__ import annotations

import ast
import re
import shlex
from typing import Any

import pytest
import typer.main

from blender_dp.cli.app import app
from blender_dp.evaluation.reproduction.run import catalogue
from tests.conftest import ROOT

PAGE = (ROOT / "docs/papers-to-code.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([\w/]+/[\w/]+\.py)(?:(::?)([\w.]+))?`", PAGE)))
COMMANDS = sorted(set(re.findall(r"`(blender-dp [^`]+)`", PAGE)))


def definitions(path: str) -> set[str]:
    """The functions and classes of a file, and the methods of its classes."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    bodies = [("", tree.body), *((f"{one.name}.", one.body) for one in tree.body if isinstance(one, ast.ClassDef))]
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {f"{prefix}{node.name}" for prefix, body in bodies for node in body if isinstance(node, kinds)}


@pytest.mark.parametrize(("path", "mark", "name"), NAMED, ids=lambda value: value)
def test_every_named_file_function_and_test_exists(path, mark, name):
    assert (ROOT / path).exists()
    assert not name or name in definitions(path)
    assert (mark == "::") == (bool(name) and path.startswith("tests/"))


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_exists_with_its_options_and_figures(line):
    command: Any = typer.main.get_command(app)
    _, verb, *rest = shlex.split(line)
    options = {flag for parameter in command.commands[verb].params for flag in parameter.opts}
    assert {word for word in rest if word.startswith("--")} <= options
    assert verb != "reproduce" or set(rest) <= set(catalogue())


def test_every_theorem_and_figure_has_a_row():
    rows = re.findall(r"^\| ((?:Theorem|Observation) 3\.\d|Figure \d+)", PAGE, re.MULTILINE)
    theorems = [f"{'Observation' if number == 4 else 'Theorem'} 3.{number}" for number in range(1, 8)]
    assert {*theorems, *(f"Figure {number}" for number in range(1, 20))} <= set(rows)
    assert set(catalogue()) <= set(re.findall(r"(?:usenix-)?figure-\d+", PAGE))


def test_every_error_has_evidence():
    _, _, errors = PAGE.partition("## Errors in the papers")
    rows = [row.split(" | ") for row in re.findall(r"^\| (?!where|---)(.+) \|$", errors, re.MULTILINE)]
    assert len(rows) > 15
    assert [row[0] for row in rows if not re.match("computed|quoted", row[2])] == []
    assert [row[0] for row in rows if row[2].startswith("computed") and "`" not in row[2]] == []
