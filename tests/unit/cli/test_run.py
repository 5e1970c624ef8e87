"""What `run` prints besides its result: exact numbers are marked, and an empty list is explained."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from blender_dp import DocumentError, Release
from blender_dp.cli import drawing_process
from blender_dp.cli.app import app

PRIVACY = ("--epsilon", "4", "--delta", "1e-6", "--out", "release")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_log(folder, users: int, query=lambda i: "google", separator=",", encoding="utf-8"):  # noqa: ARG005 (the same for all)
    lines = ["user,query,url", *(f"u{i},{query(i)},x.example" for i in range(users))]
    (folder / "log.csv").write_bytes("\n".join(lines).replace(",", separator).encode(encoding))


def command(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return " ".join((done.stdout if "--json" in arguments else done.output).split())


@pytest.mark.slow
def test_json_marks_exact_numbers_with_a_warning(folder):
    write_log(folder, 600)
    made = json.loads(command("run", "log.csv", *PRIVACY, "--opt-in", "0.5", "--json"))
    assert (made["log"]["rows"], made["listed"]) == (600, 1)
    assert "Do not publish" in made["log"]["warning"]
    assert "unknown_opt_in_ids" not in made["log"]
    assert "why_empty" not in made


@pytest.mark.slow
def test_opt_in_ids_missing_from_the_log_are_counted(folder):
    write_log(folder, 600)
    ids = [f"u{i}" for i in range(300)] + [f"nobody {i}" for i in range(7)] + ["u1", "nobody 1"]
    (folder / "ids.txt").write_text("\n".join(ids), encoding="utf-8")
    run = ("run", "log.csv", *PRIVACY, "--opt-in", "ids.txt", "--force")
    made = json.loads(command(*run, "--json"))
    assert made["log"]["unknown_opt_in_ids"] == 7
    assert made["manifest"]["groups"][0]["users"] == 300
    assert "7 of the opt-in ids are not in the log (an exact number too: do not publish it)." in command(*run)


@pytest.mark.slow
def test_an_empty_list_is_explained_with_public_numbers(folder):
    write_log(folder, 600, lambda i: f"query {i}")
    run = ("run", "log.csv", *PRIVACY, "--opt-in", "0.5", "--force", "--key", "01")
    made = json.loads(command(*run, "--json"))
    users, threshold = made["manifest"]["discovery_users"], float(Fraction(made["manifest"]["threshold"]))
    assert made["listed"] == 0
    said = f"about {threshold:.0f} of the {users} discovery users must have the same record ({threshold / users:.2%})"
    for text in (made["why_empty"], command(*run), command("trends", "release")):
        assert said in text
        assert "What would help: more opt-in users" in text
    assert json.loads(command("trends", "release", "--json")) == []


@pytest.mark.slow
def test_too_few_users_for_a_list_is_explained(folder):
    write_log(folder, 60)
    groups = ("--opt-in", "0.5", "--f-o", "0.5", "--key", "01")
    made = json.loads(command("run", "log.csv", "--epsilon", "1", *PRIVACY[2:], *groups, "--json"))
    assert made["why_empty"].startswith("A list is impossible: about ")


@pytest.mark.slow
def test_delimiter_and_encoding_can_be_set(folder):
    write_log(folder, 600, lambda _: "été", ";", "latin-1")
    named = ("--delimiter", ";", "--encoding", "latin-1")
    made = json.loads(command("run", "log.csv", *PRIVACY, *named, "--opt-in", "0.5", "--json"))
    assert (made["log"]["records"], made["listed"]) == (600, 1)
    assert "été" in command("trends", "release")


@pytest.mark.slow
def test_the_promise_is_printed_with_the_sizes_of_the_groups_and_estimates_are_also_written_as_csv(folder):
    write_log(folder, 600)
    (folder / "ids.txt").write_text("\n".join(f"u{i}" for i in range(250)), encoding="utf-8")
    printed = command("run", "log.csv", *PRIVACY, "--opt-in", "ids.txt", "--csv", "shares.csv")
    assert "Privacy promise Opt-in users (250): changing one person's data" in printed
    assert "Clients (350): changing one person's data" in printed
    assert "offers no privacy" not in printed
    assert printed.count("Exposure: ") == 1
    assert printed.endswith("CSV shares.csv")
    lines = (folder / "shares.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith('"level","query","url","share"')
    assert lines[1].startswith('"query","google",,')
    assert len(lines) == 1 + Release.load(folder / "release").to_arrow().num_rows


@pytest.mark.parametrize(("path", "problem"), [("none/shares.csv", "its folder does not exist"), (".", "is a folder")])
def test_a_csv_file_that_cannot_be_written_is_refused_before_anything_is_read(folder, path, problem):
    write_log(folder, 600)
    with pytest.raises(DocumentError, match=problem):
        command("run", "log.csv", *PRIVACY, "--opt-in", "0.5", "--csv", path)
    assert [one.name for one in folder.iterdir()] == ["log.csv"]


@pytest.mark.parametrize(
    "files",
    [
        ("--csv", "release/release.json"), ("--csv", "x/../release/REPORT.html"), ("--bad-rows", "release/head-list.json"),
        ("--csv", "release"), ("--csv", "log.csv"), ("--bad-rows", "ids.txt"), ("--csv", "a", "--bad-rows", "a"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_file_of_the_run_is_replaced_by_another_one(folder, files):
    """`--csv` used to replace the release that had just been made, or the log."""
    write_log(folder, 600)
    (folder / "x").mkdir()
    (folder / "ids.txt").write_text("u1\nu2\n", encoding="utf-8")
    before = {one: one.read_bytes() for one in folder.iterdir() if one.is_file()}
    with pytest.raises(DocumentError, match="this run reads or writes it itself"):
        command("run", "log.csv", *PRIVACY, "--opt-in", "ids.txt", *files)
    assert {one: one.read_bytes() for one in folder.iterdir() if one.is_file()} == before
    assert not (folder / "release").exists()


def test_a_file_for_bad_rows_that_cannot_be_written_is_refused_before_anything_is_read(folder):
    write_log(folder, 600)
    with pytest.raises(DocumentError, match="its folder does not exist"):
        command("run", "log.csv", *PRIVACY, "--opt-in", "0.5", "--bad-rows", "none/bad.jsonl")


@pytest.mark.slow
def test_more_files_may_be_in_the_new_folder_of_the_release(folder):
    write_log(folder, 600)
    command("run", "log.csv", *PRIVACY, "--opt-in", "0.5", "--csv", "release/shares.csv", "--bad-rows", "release/bad.jsonl")
    assert {"release.json", "shares.csv", "bad.jsonl"} <= {one.name for one in (folder / "release").iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("character", ["\ufffe", "\uffff"])
def test_a_query_with_a_character_that_svg_cannot_contain_is_shown(folder, character):
    """The library that draws the charts would end its process, when the privacy budget has been spent."""
    write_log(folder, 600, lambda i: ("goo" + character + "gle", "yahoo")[i % 2])
    command("run", "log.csv", *PRIVACY, "--opt-in", "0.5", "--force")
    page = (folder / "release" / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "yahoo" in page
    assert any(character in row.query for row in Release.load("release").queries if row.query)


@pytest.mark.slow
@pytest.mark.parametrize("dies", ["exit()", "0 if chart['mark'] == 'bar' and not chart['data']['values'] else exit()"])
def test_the_release_is_saved_even_if_the_charts_cannot_be_drawn(folder, monkeypatch, dies):
    monkeypatch.setitem(drawing_process._DRAWN, "svg", dies)
    write_log(folder, 600)
    said = command("run", "log.csv", *PRIVACY, "--opt-in", "0.5", "--force")
    assert "No report.html: charts: cannot be drawn, because the process that draws them has exited" in said
    assert [row.query for row in Release.load("release").queries] == ["google", None]
    assert not (folder / "release" / "report.html").exists()
