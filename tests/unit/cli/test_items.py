"""The command's output for a release of single items."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from blender_dp.cli.app import app


@pytest.fixture
def shown(item_release, tmp_path):
    item_release.save(tmp_path / "release.json")

    def run(verb: str, *arguments: str) -> str:
        done = CliRunner().invoke(app, [verb, str(tmp_path), *arguments])
        assert done.exit_code == 0
        return done.stdout

    return run


def test_search_has_no_url_column(shown, item_release):
    lines = [line.split() for line in shown("search", "CA").splitlines()]
    shares = [f"{s.share:.4f}" for s in item_release.search("ca")]
    assert lines == [["query", "share"], ["calculator", shares[0]], ["camera", shares[1]]]
    assert json.loads(shown("search", "cam", "--json"))[0]["urls"] == []
    assert shown("search", "zzz") == ""


def test_trends_shows_the_items(shown):
    printed = shown("trends")
    assert [name in printed for name in ("calculator", "camera", "maps", "URL", "⋆")] == [True, True, True, False, False]


def test_audit_accepts_lists_of_single_items():
    done = CliRunner().invoke(app, ["audit", "--epsilon", "4", "--delta", "1e-5", "--urls", "0", "--json"])
    channel = json.loads(done.stdout)["findings"][2]
    assert channel["verdict"] == "holds"
    assert channel["worst_epsilon"] == pytest.approx(4, abs=1e-4)
