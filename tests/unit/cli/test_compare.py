"""The output of blender-dp compare."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from typer.testing import CliRunner

from blender_dp.cli.app import app
from blender_dp.cli.compare import _row, _summary
from blender_dp.errors import ParameterError
from blender_dp.release import Change, Comparison
from tests.rounds import emptied, rounds


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


def test_two_equal_rounds_have_no_changes(folders, tmp_path):
    old = folders[1][0]
    replace(old, queries=tuple(replace(row, client_variance=1.0) for row in old.queries)).save(tmp_path / "r.json")
    printed = run(folders[0][0], tmp_path / "r.json")
    assert "none changed by more than noise explains" in printed
    assert "-0.0000  " not in printed


def test_the_same_release_twice_is_refused(folders):
    done = CliRunner().invoke(app, ["compare", *map(str, (folders[0][0], folders[0][0]))])
    assert isinstance(done.exception, ParameterError)
    assert "are the same" in str(done.exception)


def test_queries_that_only_joined_or_only_left_are_said_so(folders, tmp_path):
    old, _ = folders[1]
    emptied(old).save(tmp_path / "empty")
    joined = " ".join(run(tmp_path / "empty", folders[0][0]).split())
    assert "0 left the list" not in joined
    assert run(tmp_path / "empty", tmp_path / "empty") == "Neither release lists a query.\n"
    changes = [_change(0.999), _change(1.0)]
    said = _summary(Comparison(tuple(changes), 0.05))[1]
    assert said.startswith("Noise explains why 2 joined the list: with an unchanged share, ")
    assert said.endswith(" each is missing from the other list almost certainly.")
    left = replace(_change(0.5), old_share=0.1, new_share=None)
    assert "why 1 left the list and 2 joined it: " in _summary(Comparison((*changes, left), 0.05))[1]
    assert "why 1 left the list: " in _summary(Comparison((left,), 0.05))[1]


def _change(chance: float) -> Change:
    return Change(
        query="q", kind="unchanged", old_share=None, new_share=0.1, difference=None, low=0.0, high=0.1, p_value=1.0,
        chance_missing=chance,
    )  # fmt: skip


def test_small_differences_have_no_negative_zero():
    row = _row(replace(_change(1.0), difference=-1e-6, low=-2e-6, high=3e-6))
    assert row[-2:] == ["+0.0000", "+0.0000 to +0.0000"]


def test_a_url_is_named_in_full(folders):
    done = CliRunner().invoke(app, ["compare", "https://collector.example/x", str(folders[0][0])])
    assert str(done.exception).startswith("https://collector.example/x: is a URL, and only trends reads from a collector.")
