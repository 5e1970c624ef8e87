"""blender-dp plan."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from blender_dp.cli import drawing_process
from blender_dp.cli.app import app
from blender_dp.cli.plan_output import shown
from blender_dp.errors import BlenderError, ChartError
from tests.rounds import rounds

SMALL = ("plan", "zipf:1.5", "--users", "40000", "--opt-in", "0.1", "--delta", "1e-5")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def unfolded(text: str) -> str:
    """The text without its line breaks: the width of the console is that of the test that used it first."""
    return " ".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize("question", [(), ("--over", "epsilon"), ("--solve", "opt-in", "--want", "queries=1")])
def test_every_answer_about_more_users_than_a_release_has_warns_about_what_it_does_not_list(folder, question):
    rounds([{}], users=40_000)[0].release.save(folder / "release")
    options = ("--users", "80000", "--epsilon", "4", "--delta", "1e-5", "--max-queries", "5")
    done = CliRunner().invoke(app, ["plan", "release", *options, *question], catch_exceptions=False)
    said = unfolded(done.stderr)
    assert "only 40,000 were counted. Queries and URLs that the release does not list are never listed" in said
    assert said.count("never listed") == 1
    as_json = json.loads(command("plan", "release/release.json", *options, *question, "--json"))
    assert "never listed" in as_json.get("tradeoff", as_json)["warnings"][-1]


@pytest.mark.slow
def test_a_plan_has_the_result_the_trust_and_the_risk():
    said = command(*SMALL, "--epsilon", "4", "--max-queries", "10")
    groups = "4,000 opt in (3,800 discover, 200 calibrate), 36,000 are clients; ε = 4"
    assert f"40,000 users like zipf:1.5: {groups}" in unfolded(said)
    for part in (
        "queries listed      10.0",
        "NDCG",
        "Queries by true rank",
        "everyone opts in",
        "What a person risks",
        "35.6 %",
    ):
        assert part in said, said
    assert "12 rounds" in unfolded(said)


@pytest.mark.slow
def test_json_has_the_same():
    made = json.loads(command(*SMALL, "--epsilon", "4", "--max-queries", "10", "--json", "--rounds", "2"))
    assert made["groups"] == {"discovery": 3800, "calibration": 200, "clients": 36000}
    assert made["forecast"]["queries"]["mean"] == pytest.approx(10, abs=0.1)
    assert "2 rounds" in made["risks"][0]
    assert "tradeoff" not in made


@pytest.mark.slow
def test_a_trade_off_is_a_table_and_a_picture(folder):
    said = command(*SMALL, "--epsilon", "4", "--max-queries", "10", "--over", "epsilon", "--plot", "plan.svg")
    assert [line.split()[0] for line in said.splitlines()[-7:]] == ["0.5", "1", "2", "3", "4", "5", "6"]
    picture = (folder / "plan.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert "Queries listed" in picture


@pytest.mark.slow
def test_a_trade_off_is_printed_even_if_its_picture_cannot_be_drawn(folder, monkeypatch):
    monkeypatch.setitem(drawing_process._DRAWN, "svg", "exit()")
    done = CliRunner().invoke(app, [*SMALL, "--epsilon", "4", "--over", "max-queries", "--plot", "plan.svg"])
    assert [line.split()[0] for line in done.stdout.splitlines()[-6:]] == ["10", "25", "50", "100", "200", "500"]
    assert isinstance(done.exception, ChartError)
    assert not (folder / "plan.svg").exists()


@pytest.mark.slow
def test_a_solution_is_printed_with_its_forecast():
    said = command(*SMALL, "--want", "queries=10", "--solve", "epsilon")
    assert said.startswith("ε: ")
    assert "is enough" in unfolded(said)


@pytest.mark.slow
def test_json_has_the_trade_off_and_the_picture_may_be_png(folder):
    arguments = ("--epsilon", "4", "--max-queries", "5", "--over", "users", "--plot", "plan.png", "--json")
    points = json.loads(command(*SMALL, *arguments))["tradeoff"]
    assert (points["over"], points["points"][0]["value"]) == ("users", 4_000)
    assert (folder / "plan.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_json_says_what_is_missing():
    wishes = ("--want", "queries=900", "--solve", "epsilon", "--json")
    impossible = json.loads(command(*SMALL, *wishes))
    assert impossible["value"] is None
    assert impossible["missing"] == ["900 queries are listed with a probability of 0%, not 90%"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--epsilon", "4", "--plot", "plan.pdf"], "plot: 'plan.pdf' is neither .svg nor .png"),
        (["--epsilon", "4", "--solve", "opt-in"], "want: --want and --solve need each other"),
        (["--epsilon", "4", "--want", "recall=1", "--solve", "opt-in"], "want: 'recall=1' is unknown"),
        (["--epsilon", "4", "--want", "queries=1.5", "--solve", "opt-in"], "want: queries=1.5 is not a whole number"),
        (["--epsilon", "4", "--plot", "missing/plan.svg"], "missing/plan.svg: its folder does not exist"),
        (["--epsilon", "4", "--over", "delta"], "over: 'delta' is unknown"),
        (["--epsilon", "4", "--want", "", "--solve", "opt-in"], "want: no goal is set"),
        (["--epsilon", "4", "--want", "queries=10,queries=20", "--solve", "opt-in"], "want: queries is set twice"),
        (["--epsilon", "4", "--want", "error=1e300", "--solve", "opt-in"], "want: 'error=1e300' is out of range"),
        (["--epsilon", "4", "--want", "error=1e340", "--solve", "opt-in"], "want: 'error=1e340' is out of range"),
        (["--max-queries", "10"], "epsilon: a plan needs --epsilon and --delta"),
    ],
)
def test_bad_input_names_the_option(arguments, problem):
    with pytest.raises(BlenderError, match=problem):
        command(*SMALL, *arguments)


@pytest.mark.slow
def test_numbers_have_two_digits_that_are_not_0():
    said = command("plan", "aol", "--users", "1000000000", "--epsilon", "4", "--delta", "1e-10", "--max-queries", "1")
    assert "at most 1 query, profile tight" in unfolded(said)
    assert "(0.000027% of them)" in unfolded(said)
    assert "0.0000 " not in said
    assert "±0.00000 " not in said
    (rank,) = [line for line in said.splitlines() if line.lstrip().startswith("1  0.02110")]
    assert float(rank.split("±")[1].split()[0]) > 1e-6


@pytest.mark.slow
def test_an_empty_list_has_no_scores():
    said = command("plan", "zipf:0", "--users", "20000", "--epsilon", "1", "--delta", "1e-9")
    (score,) = [line for line in said.splitlines() if line.startswith("query L1")]
    assert score.split() == ["query", "L1", "-", "-"]
    assert "both                   0.0         -" in said


def test_small_numbers_are_shown_with_more_decimals():
    assert [shown(value) for value in (0.0211, 0.0, 0.00000123, 4e-12)] == ["0.02110", "0", "0.0000012", "4.0e-12"]
    assert shown(99.5, 1) == "99.5"
