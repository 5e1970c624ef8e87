"""The metadata of both packages are consistent with each other and with CI."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml

from tests.conftest import ROOT

FOLDERS = {"blender-dp": ROOT, "blender-dp-device": ROOT / "device"}
FILES = {name: tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")) for name, folder in FOLDERS.items()}
PROJECTS = {name: file["project"] for name, file in FILES.items()}
BUILDS = {name: file["tool"]["hatch"] for name, file in FILES.items()}


@pytest.fixture(params=PROJECTS)
def name(request):
    return request.param


def test_both_packages_have_one_version():
    server, device = PROJECTS["blender-dp"], PROJECTS["blender-dp-device"]
    assert server["version"] == device["version"]
    assert f"blender-dp-device=={device['version']}" in server["dependencies"]


def test_the_claimed_python_versions_are_those_that_make_tests(name):
    claimed = set(re.findall(r"Python :: (3\.\d+)", " ".join(PROJECTS[name]["classifiers"])))
    (others,) = re.findall(r"^VERSIONS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    oldest = PROJECTS[name]["requires-python"].removeprefix(">=")
    assert claimed == {oldest, *others.split()}
    assert oldest == min(claimed, key=lambda version: int(version.split(".")[1]))


def test_the_metadata_are_complete(name):
    project = PROJECTS[name]
    assert project["name"] == name
    assert {"description", "license", "authors", "keywords", "urls"} <= set(project)
    assert "Typing :: Typed" in project["classifiers"]
    assert project["dynamic"] == ["readme"]  # the README, with links that work on a package index


def test_links_of_the_readme_work_on_a_package_index(name):
    """The build replaces them as `pyproject.toml` says: each one leads to a file of the source."""
    hook = BUILDS[name]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = (FOLDERS[name] / hook["fragments"][0]["path"]).read_text(encoding="utf-8")
    for one in hook["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    source = PROJECTS["blender-dp"]["urls"]["Source"]
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    inside = [link.removeprefix(source).partition("#")[0] for link in links if link.startswith(source)]
    assert inside
    assert [path for path in inside if not (ROOT / path).exists()] == []


def test_every_package_contains_the_license(name):
    own, *others = PROJECTS[name]["license-files"]
    assert (FOLDERS[name] / own).read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert len(PROJECTS[name]["license"].split(" AND ")) == 1 + len(others)
    assert all((FOLDERS[name] / other).is_file() for other in others)


def test_the_citation_matches_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = PROJECTS["blender-dp"]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert (citation["title"], citation["version"]) == (project["name"], project["version"])
    assert citation["license"] == project["license"].split(" AND ")[0]  # the others are those of files inside
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in project["authors"]]
    assert [(paper["type"], paper["year"]) for paper in citation["references"]] == [
        ("article", 2019),
        ("conference-paper", 2017),
    ]


def test_hooks_call_tools_that_make_installs():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert {repo["repo"] for repo in config["repos"]} == {"local"}
    hooks = [hook["entry"].split()[0] for repo in config["repos"] for hook in repo["hooks"]]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(entry.replace(".venv/bin", "$(BIN)") in makefile for entry in hooks)
