"""The documentation is complete and current, and its links resolve."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tomllib

import pytest

from tests.conftest import ROOT

PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part.startswith(".") or part == "node_modules" for part in path.relative_to(ROOT).parts)
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def anchors(page):
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_resolve(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        target, _, anchor = link.partition("#")
        if not target.startswith("https://"):
            file = page.parent / target if target else page
            assert file.exists(), link
            assert not anchor or anchor in anchors(file), link


def test_generated_files_are_current():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "tools/generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    stale = [str(path) for path, text in generate.outputs() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run: make spec"


def test_the_changelog_includes_this_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_make_without_arguments_lists_every_target():
    listed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    verbs = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert all(f"make {verb} " in listed for verb in verbs)


SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
THREATS = [line for line in SECURITY.splitlines() if line.startswith("| ") and not line.startswith("| threat |")]


@pytest.mark.parametrize("row", THREATS, ids=lambda row: row.split("|")[1].strip())
def test_every_threat_has_tests_that_exist(row):
    named = re.findall(r"`((?:tests|web)/[\w/.]+)(?:::(\w+))?`", row.split("|")[3])
    assert named
    for path, name in named:
        assert (ROOT / path).exists(), path
        if name:
            text = (ROOT / path).read_text(encoding="utf-8")
            assert re.search(rf"^ *(?:(?:async )?def|class) {name}\b", text, re.MULTILINE), (path, name)
