"""blender-dp demo, as a user runs it."""

from __future__ import annotations

import json

import pyarrow.parquet as pq

from blender_dp import Release, ReportingList


def test_demo_prints_and_writes_everything(command, tmp_path):
    done = command("demo", "--users", "60000", "--out", "made")
    assert done.returncode == 0, done.stderr
    for text in ("google", "blended ± 95 %", "query L1", "NDCG", "Opt-in users (", "Clients (", "report.html"):
        assert text in done.stdout
    assert "discovery: " in done.stderr
    folder = tmp_path / "made"
    written = {"release.json", "head-list.json", "estimates.parquet", "report.html", "log.parquet"}
    assert {p.name for p in folder.iterdir()} == written
    release = Release.load(folder / "release.json")
    assert ReportingList.load(folder / "head-list.json") == release.reporting_list
    assert pq.read_table(folder / "estimates.parquet").equals(release.to_arrow())
    assert release.manifest.is_seeded


def test_demo_is_repeatable_and_prints_json(command):
    first, second = (command("demo", "--users", "60000", "--json") for _ in range(2))
    assert first.stdout == second.stdout
    assert first.stderr == ""
    summary = json.loads(first.stdout)
    assert set(summary["scores"]) == {"opt-in", "client", "blended"}
    assert summary["top"][0]["true_share"] > 0.01


def test_the_errors_of_an_empty_list_are_not_shown_as_perfect(command):
    done = command("demo", "--users", "2000", "--epsilon", "1", "--profile", "paper")
    assert "0 listed queries" in done.stdout
    (blended,) = [line.split() for line in done.stdout.splitlines() if line.startswith("blended ")]
    assert blended == ["blended", "-", "-", "-"]


def test_a_seeded_release_warns_wherever_it_is_read(command):
    assert command("demo", "--users", "60000", "--out", "made").returncode == 0
    for arguments in (("trends", "made"), ("search", "made", "goo")):
        assert "offers no privacy" in " ".join(command(*arguments).stderr.split())
