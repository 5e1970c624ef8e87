from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from blender_dp import DocumentError, Release
from blender_dp.cli.app import app

OLD = Path(__file__).parent.parent / "release/data/release-1.json"


@pytest.fixture
def folder(tmp_path) -> str:
    loaded = Release.load(OLD)
    dataclasses.replace(loaded, manifest=dataclasses.replace(loaded.manifest, randomness="system")).save(tmp_path / "r")
    return str(tmp_path / "r")


def test_the_entry_is_yaml_or_json_and_a_note_lists_what_is_missing(folder):
    words = ("registry", folder, "--name", "Search: trends", "--date", "2026-11-16", "--curator-type", "Industry")
    text, document = (CliRunner().invoke(app, [*words, *more], catch_exceptions=False) for more in ((), ("--json",)))
    entry = yaml.safe_load(text.stdout)
    assert entry == json.loads(document.stdout)
    assert entry["deployment"]["basic"]["name"] == "Search: trends"
    assert "To fill in: deployment.basic.data_curators.0.data_curator_name, " in text.stderr
    assert "publication_date" not in text.stderr


@pytest.mark.parametrize("verb", [("registry",), ("trends",), ("search", "--json"), ("compare", OLD)], ids=str)
def test_a_release_that_promises_more_than_its_settings_do_is_refused(folder, verb):
    path = Path(folder) / "release.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    for group in document["manifest"]["groups"]:
        group["epsilon"] = "1"
    path.write_text(json.dumps(document), encoding="utf-8")
    more = ("goo",) if verb[0] == "search" else ()
    with pytest.raises(DocumentError, match=r"manifest\.groups: does not follow from its parameters"):
        CliRunner().invoke(app, [*map(str, verb), folder, *more], catch_exceptions=False)
