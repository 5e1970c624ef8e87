"""The output of blender-dp compare."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from typer.testing import CliRunner

from blender_dp.cli.app import app
from tests.rounds import rounds


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    paths = [tmp_path_factory.mktemp("rounds") / name for name in ("june", "july")]
    releases = [one.release for one in rounds([{}, {"google": 0.8, "mapquest": 3.0, "ebay": 0.0}])]
    for path, release in zip(paths, releases, strict=True):
        release.save(path)
    return paths, releases


def run(*arguments: object) -> str:
    done = CliRunner(env={"COLUMNS": "120"}).invoke(app, ["compare", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_it_prints_changes_with_their_intervals(folders):
    paths, (old, new) = folders
    printed = run(*paths)
    for change in old.compare(new).discoveries:
        line = next(line for line in printed.splitlines() if line.startswith(f"{change.query} "))
        assert change.kind in line
        assert f"{change.low:+.4f} to {change.high:+.4f}" in line
        assert ("not listed" in line) == (change.new_share is None)
    joined = " ".join(printed.split())
    assert "1 risen" in joined
    assert "1 gone" in joined
    assert "At most 5 % of these are expected to be false." in joined
    noise = [c for c in old.compare(new).changes if c.kind == "unchanged" and c.chance_missing is not None]
    assert f"Noise explains why {sum(c.new_share is None for c in noise)} left the list" in joined


def test_the_number_of_rows_can_be_limited(folders):
    assert len(run(*folders[0], "-n", "1").split("\n\n")[0].splitlines()) == 2


def test_json_has_every_change(folders):
    paths, (old, new) = folders
    printed = json.loads(run(*paths, "--json", "--fdr", "0.01", "--same-users"))
    assert printed == json.loads(json.dumps(asdict(old.compare(new, fdr=0.01, same_users=True))))


def test_two_equal_releases_have_no_changes(folders):
    assert "none changed by more than noise explains" in run(folders[0][0], folders[0][0])
