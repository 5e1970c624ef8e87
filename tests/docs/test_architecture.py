"""The map of the repository and the walks through the code match the tree."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

MAP = re.findall(r"^\| `([^`]+/)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
WALKS = re.findall(r"`([\w/.]+\.py):(\w+(?:\.\w+)?)`", ARCHITECTURE)
PACKAGES = (ROOT / "src/blender_dp", ROOT / "device/src/blender_dp_device")
# The map lists every direct subfolder of these.
MAPPED = ("", "src/", "src/blender_dp/", "src/blender_dp/collector/", "device/src/blender_dp_device/", "tests/")
INSIDE = {"src/", "tests/"}  # their subfolders are listed one by one


def folders() -> set[str]:
    """Every folder that the map must show: those of the files that git tracks or would add."""
    command = ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("this is not a git repository")
    files = [Path(line) for line in done.stdout.splitlines() if (ROOT / line).exists()]
    parents = {f"{parent.as_posix()}/" for file in files for parent in file.parents if parent != Path()}
    return {path for path in parents if path.rpartition("/")[0].rpartition("/")[0] + "/" in {*MAPPED, "/"}} - INSIDE


def test_the_map_shows_every_folder_and_only_those():
    assert folders() - set(MAP) == set(), "add a row to the map in CONTRIBUTING.md"
    assert {path for path in MAP if not (ROOT / path).is_dir()} == set(), "remove these rows from CONTRIBUTING.md"
    assert len(MAP) == len(set(MAP))


@pytest.mark.parametrize(("path", "name"), WALKS, ids=lambda value: value)
def test_every_step_of_a_walk_exists(path, name):
    found = [root / path for root in PACKAGES if (root / path).exists()]
    assert len(found) == 1, f"{path}: not in exactly one of the two packages"
    names = {
        f"{prefix}{node.name}"
        for prefix, body in bodies(ast.parse(found[0].read_text(encoding="utf-8")))
        for node in body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    assert name in names


def bodies(tree):
    """The module's statements, and those of its classes with the class's name in front."""
    yield "", tree.body
    yield from ((f"{node.name}.", node.body) for node in tree.body if isinstance(node, ast.ClassDef))


def test_there_are_three_walks():
    assert len(WALKS) > 20
    assert len(re.findall(r"^## Walk: ", ARCHITECTURE, re.MULTILINE)) == 3


def test_the_layers_are_those_that_import_linter_checks():
    shown = [re.findall(r"`(\w+)`", row) for row in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", ARCHITECTURE, re.MULTILINE)]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    assert shown == [[name.removeprefix("blender_dp.") for name in row.split(" | ")] for row in layers]
