"""The output of blender-dp trends."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import nullcontext
from dataclasses import asdict, replace

import pytest
from typer.testing import CliRunner

from blender_dp import Release
from blender_dp.cli import release_series
from blender_dp.cli.app import app
from blender_dp.cli.output import err
from blender_dp.cli.release_series import is_one_release
from blender_dp.cli.sparkline import sparkline
from blender_dp.cli.trends import _row
from blender_dp.errors import BlenderError
from blender_dp.release import trends_over
from tests.rounds import emptied, rounds


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of three releases; the name of the last sorts before that of the second."""
    path = tmp_path_factory.mktemp("series")
    for name, one in zip(("round-1", "round-2", "round-10"), rounds([{}, {}, {"google": 0.5}]), strict=True):
        one.release.save(path / name)
    return path


@pytest.fixture(scope="module")
def expected(folder):
    names = ["round-1", "round-2", "round-10"]
    return trends_over([Release.load(folder / name) for name in names], names)


def run(*arguments: object) -> str:
    done = CliRunner(env={"COLUMNS": "160"}).invoke(app, ["trends", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_one_release_is_shown_with_its_errors(folder):
    printed = run(folder / "round-1", "-n", "3")
    assert "opt-in weight" in printed
    assert len(printed.splitlines()) == 4
    assert json.loads(run(folder / "round-1" / "release.json", "--json", "-n", "1"))[0]["query"] == "google"


@pytest.mark.slow
def test_several_releases_are_smoothed(folder, expected):
    printed = run(folder, "-n", "5")
    assert "over 3 releases, round-1 to round-10" in printed
    for one in expected.series[:5]:
        line = next(line for line in printed.splitlines() if line.startswith(f"{one.query} "))
        assert sparkline([point.smoothed for point in one.points]) in line
        assert f"{one.change:+.4f}" in line
        assert f"{one.change_low:+.4f} to {one.change_high:+.4f}" in line
        assert f"{one.points[-1].smoothed_low:.4f} to {one.points[-1].smoothed_high:.4f}" in line
    assert printed == run(*(folder / name for name in ("round-1", "round-2", "round-10")), "-n", "5")


def test_json_has_every_point(folder, expected):
    printed = json.loads(run(folder, "--json", "-n", "2"))
    assert printed["releases"] == ["round-1", "round-2", "round-10"]
    assert printed["series"] == json.loads(json.dumps([asdict(one) for one in expected.series[:2]]))


@pytest.mark.slow
def test_plots_are_drawn(folder, tmp_path):
    for suffix, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".html", b"<!doctype html>")):
        run(folder, "-n", "4", "--plot", tmp_path / f"plot{suffix}")
        assert (tmp_path / f"plot{suffix}").read_bytes().startswith(start)
    page = (tmp_path / "plot.html").read_text(encoding="utf-8")
    assert page.count("google") > 3
    assert not re.search(r"(?:src|href)=\"http", page)
    assert "<script" not in page


def test_names_that_only_look_like_numbers_can_be_sorted(folder, tmp_path):
    for name in ("1²2", "²", "10"):
        (tmp_path / name).symlink_to(folder / "round-1")
    assert [path.name for path in release_series._releases(tmp_path)] == ["1²2", "10", "²"]


def test_a_plot_of_an_unknown_format_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(BlenderError, match=r"plot: 'plot\.gif' has an unknown format"):
        run("missing", "--plot", tmp_path / "plot.gif")


def test_a_folder_without_releases_and_mixed_sources_are_refused(tmp_path, folder):
    with pytest.raises(BlenderError, match="contains no release"):
        run(tmp_path)
    with pytest.raises(BlenderError, match="a collector and other sources"):
        run(folder, "https://collector.example")


def test_a_key_for_files_is_refused(folder):
    for source in (folder, folder / "round-1"):
        with pytest.raises(BlenderError, match="key: files are not signed"):
            run(source, "--key", "A" * 43 + "=")


def test_the_same_release_twice_is_refused(folder):
    with pytest.raises(BlenderError, match="releases: round-1 is there twice"):
        run(folder / "round-1", folder / "round-1")


def test_the_error_for_a_copy_names_both(folder, tmp_path):
    Release.load(folder / "round-1").save(tmp_path / "copy.json")
    with pytest.raises(BlenderError, match="releases: round-1 and copy are the same"):
        run(folder / "round-1", folder / "round-2", tmp_path / "copy.json")


def test_releases_with_the_same_name_are_named_with_their_folders(folder, tmp_path):
    shutil.copytree(folder / "round-2", tmp_path / "x" / "round-1")
    shutil.copytree(folder / "round-10", tmp_path / "y" / "x" / "other")
    names = json.loads(run(folder / "round-1", tmp_path / "x" / "round-1", tmp_path / "y/x/other", "-n", "1", "--json"))[
        "releases"
    ]
    assert names == [f"{folder.name}/round-1", "x/round-1", "other"]
    both = [tmp_path / "x" / "round-1", tmp_path / "y" / "x" / "round-1"]
    shutil.copytree(folder / "round-10", both[1])
    assert json.loads(run(*both, "-n", "1", "--json"))["releases"] == [f"{tmp_path.name}/x/round-1", "y/x/round-1"]


def test_a_stray_file_in_a_folder_is_named_with_the_fix(folder, tmp_path):
    shutil.copytree(folder / "round-1", tmp_path / "round-1")
    (tmp_path / "notes.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BlenderError, match=r"notes\.json: .*, or move this file out of the folder of releases\.$"):
        run(tmp_path)
    with pytest.raises(BlenderError, match=r"notes\.json: .*Use a release\.json that blender-dp wrote\.$"):
        run(tmp_path / "round-1", tmp_path / "notes.json")


def test_a_campaign_of_files_and_an_empty_name_are_refused(folder):
    for sources in ((folder,), (folder / "round-1",)):
        with pytest.raises(BlenderError, match="campaign: files have no campaigns"):
            run(*sources, "--campaign", "foo")
    with pytest.raises(BlenderError, match="releases: one of them has an empty name"):
        run("")


def test_the_ending_of_a_plot_may_be_in_capitals(folder, tmp_path):
    run(folder / "round-1", "-n", "1", "--plot", tmp_path / "T.SVG")
    assert (tmp_path / "T.SVG").read_bytes().startswith(b"<svg")


def test_the_title_of_one_release_is_not_a_range(folder, tmp_path):
    Release.load(folder / "round-1").save(tmp_path / "releases" / "round-1")
    assert run(tmp_path / "releases", "-n", "1").startswith("Smoothed shares of round-1\n")


def test_a_plot_does_not_change_what_is_printed_about_one_release(folder, tmp_path):
    one, plot = folder / "round-1", tmp_path / "t.svg"
    assert "".join(run(one, "-n", "1", "--plot", plot).split()) == "".join([*run(one, "-n", "1").split(), f"Drawn:{plot}"])
    assert run(one, "-n", "1", "--plot", plot, "--json") == run(one, "-n", "1", "--json")
    done = CliRunner().invoke(app, ["trends", str(one), "--plot", str(plot)], catch_exceptions=False)
    assert done.stderr.count("offers no privacy") == 1


def test_several_releases_without_queries_are_explained(folder, tmp_path):
    for name in ("round-1", "round-2"):
        emptied(Release.load(folder / name)).save(tmp_path / name)
    done = CliRunner().invoke(app, ["trends", str(tmp_path)], catch_exceptions=False)
    assert done.stdout == ""
    assert "No release lists a query. " in done.stderr
    assert "What would help" in done.stderr


def test_a_change_of_nearly_0_has_no_negative_sign(expected):
    tiny = replace(expected.series[0], change=-1e-6, change_low=-2e-6, change_high=1e-7)
    assert _row(tiny)[-2:] == ["+0.0000", "+0.0000 to +0.0000"]


@pytest.mark.parametrize(
    ("values", "line"), [([0.0, 0.5, 1.0], "▁▅█"), ([0.2, 0.2], "██"), ([0.0, 0.0], "▁▁"), ([-1.0, 1.0], "▁█"), ([], "")]
)
def test_sparklines_start_at_0(values, line):
    assert sparkline(values) == line


def test_a_long_sparkline_shows_means_of_several_values():
    assert sparkline([0.0] * 150 + [1.0] * 150) == "▁" * 20 + "█" * 20
    assert len(sparkline([float(number) for number in range(41)])) == 40


def test_one_release_or_several(folder):
    assert is_one_release([str(folder / "round-1")])
    assert is_one_release(["missing.json"])
    assert not is_one_release([str(folder)])
    assert not is_one_release(["http://127.0.0.1:1"])


def test_progress_is_shown_on_a_terminal(folder, tmp_path, monkeypatch):
    """Hundreds of releases take half a minute."""
    steps = []
    monkeypatch.setattr(err, "status", lambda step: steps.append(step) or nullcontext())
    run(folder, "-n", "1", "--plot", tmp_path / "t.svg")
    assert steps == ["reading the releases", "smoothing the queries of 3 releases", "drawing"]


def test_the_warning_about_seeds_is_printed_once(folder):
    done = CliRunner().invoke(app, ["trends", str(folder), "-n", "1"], catch_exceptions=False)
    assert done.stderr.startswith("3 of 3 releases: This run offers no privacy")
    assert done.stderr.count("offers no privacy") == 1
