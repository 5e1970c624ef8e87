"""Every code block in the documentation runs, and prints the output it shows."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow.csv as pa_csv
import pytest

from blender_dp import aol_like
from tests.conftest import ROOT
from tests.warm_command import WarmCommand

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# A block of text right after one of Python is what it prints.
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("log") / "log.csv"
    pa_csv.write_csv(aol_like(2, users=50_000), path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def command() -> Iterator[WarmCommand]:
    made = WarmCommand(columns=80)
    yield made
    made.close()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_snippets_of_a_page_run(page, log, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_bytes(log)
    namespace: dict[str, object] = {}
    runners = {"python": run_python, "pycon": run_pycon, "console": partial(run_console, command)}
    for language, text, printed in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language in runners:
            runners[language](text, namespace, printed)


def run_python(text: str, namespace: dict[str, object], expected: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, "<docs>", "exec"), namespace)  # noqa: S102
    if expected:
        assert printed.getvalue() == expected


def run_pycon(text: str, namespace: dict[str, object], _: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, namespace, "docs", None, None)
    runner = doctest.DocTestRunner()
    runner.run(test, clear_globs=False)
    assert runner.failures == 0
    namespace.update(test.globs)


def run_console(command: WarmCommand, text: str, *_: object) -> None:
    for entry in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, expected = entry.partition("\n")
        if line == "make test":  # that is what is running
            continue
        name, *arguments = shlex.split("blender-dp demo" if line == "make demo" else line.removeprefix(".venv/bin/"))
        assert name == "blender-dp", "no other command is documented"
        done = command(arguments, Path.cwd())
        assert done.returncode == 0, done.stderr
        if expected.strip():
            printed = "\n".join(row.rstrip() for row in done.stdout.splitlines())
            assert printed.strip() == expected.strip()
