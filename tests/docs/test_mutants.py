"""Mutation testing names existing files, and makes the expected changes."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from tests.conftest import ROOT


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


MUTATIONS = load("mutations")
MUTANTS = load("mutants")


def test_every_target_and_its_tests_exist():
    assert [path for path in MUTANTS.TARGETS if not (ROOT / path).exists()] == []
    assert [path for tests in MUTANTS.TARGETS.values() for path in tests if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("entry", MUTANTS.equivalent(), ids=lambda entry: entry["change"])
def test_every_equivalent_mutant_still_exists_and_has_a_reason(entry):
    lines = [one.line for one in MUTATIONS.mutations(ROOT / entry["file"]) if MUTANTS.is_entry(entry, one)]
    assert len(set(lines)) == 1  # in one line: what is equivalent there need not be equivalent elsewhere
    assert len(entry["reason"]) > 20


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("a < b", ["a < b -> a <= b", "a < b -> a >= b"]),
        ("a == b", ["a == b -> a != b"]),
        ("a + b", ["a + b -> a - b"]),
        ("a // 2", ["a // 2 -> a * 2", "2 -> 3"]),
        ("not a", ["not a -> a"]),
        ("a and b", ["a and b -> a or b"]),
        ("min(a, b)", ["min(a, b) -> max(a, b)"]),
        ("math.ceil(a)", ["math.ceil(a) -> math.floor(a)"]),
        ("def f(a: int | None) -> int | None:\n    raise ValueError", ["raise ValueError -> pass"]),
        ("x: int | None = True", ["True -> False"]),
        ("'text'", []),
    ],
)
def test_mutants_make_the_expected_changes(tmp_path, source, changes):
    file = tmp_path / "module.py"
    file.write_text(source, encoding="utf-8")
    made = list(MUTATIONS.mutations(file))
    assert [mutation.change for mutation in made] == changes
    for mutation in made:
        compile(mutation.tree, str(file), "exec")
