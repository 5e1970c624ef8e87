"""The output of blender-dp disagreement."""

from __future__ import annotations

import dataclasses
import json

import pytest
from typer.testing import CliRunner

from blender_dp import Blender, Entropy, Release, aol_like
from blender_dp.cli.app import app
from tests.rounds import emptied


@pytest.fixture(scope="module")
def release() -> Release:
    blender = Blender(epsilon=4, delta=1e-5, max_queries=10)
    return blender.run_log(aol_like(2, users=60_000), 0.3, key=b"k", entropy=Entropy.seeded(1))


@pytest.fixture
def shown(tmp_path):
    def run(release: Release, *arguments: str) -> str:
        release.save(tmp_path / "release.json")
        done = CliRunner(env={"COLUMNS": "160"}).invoke(app, ["disagreement", str(tmp_path), *arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


def differing(release: Release) -> Release:
    rows = {row.query: row for row in release.queries}
    google = rows["google"]
    off = google.client_share + 8 * (google.opt_in_variance + google.client_variance) ** 0.5
    queries = tuple(dataclasses.replace(row, opt_in_share=off) if row is google else row for row in release.queries)
    return dataclasses.replace(release, queries=queries)


def test_it_prints_a_table_of_queries_and_a_table_of_records(shown, release):
    printed = shown(release, "-n", "3")
    report = release.disagreement()
    assert "Queries on which opt-in users and clients differ most" in printed
    assert "Records on which opt-in users and clients differ most" in printed
    assert [row.query in printed for row in report.queries[:3]] == [True] * 3
    assert f"{report.queries[0].score:+.1f}" in printed
    assert f"{report.records[0].query} → {report.records[0].url}" in printed
    assert printed.count("→") == 3
    assert f"χ² = {report.chi_square:.1f} with 10 degrees of freedom" in printed
    assert f"{report.p_value:.2g}." in " ".join(printed.split())
    assert "differs" not in printed


def test_differences_are_marked(shown, release):
    first = next(line for line in shown(differing(release)).splitlines() if line.startswith("google "))
    assert first.split()[-2:] == ["+8.0", "differs"]


def test_json_has_every_difference(shown, release):
    report = json.loads(shown(release, "--json", "-n", "1"))
    assert set(report.pop("poisoning")) == {"top", "reports", "queries", "records"}
    wanted = dataclasses.asdict(release.disagreement())
    assert report == json.loads(json.dumps(wanted))
    assert set(report) == {"queries", "records", "chi_square", "degrees", "p_value"}
    assert len(report["queries"]) == 10


def test_single_items_have_no_table_of_records(shown, item_release):
    printed = shown(item_release)
    assert "calculator" in printed
    assert "Records" not in printed


@pytest.mark.slow
def test_a_paper_release_compares_records_only(shown):
    """The papers' opt-in users do not measure ⟨q, ⋆⟩, so only records can be compared."""
    blender = Blender(epsilon=4, delta=1e-5, max_queries=10, profile="paper")
    release = blender.run_log(aol_like(2, users=60_000), 0.3, key=b"k", entropy=Entropy.seeded(1))
    report = json.loads(shown(release, "--json"))
    assert (report["degrees"], report["queries"]) == (0, [])
    assert all(row["score"] is not None for row in report["records"])
    assert "No overall comparison is possible" in shown(release)


def test_an_empty_list_is_the_reason_why_nothing_is_compared(tmp_path, release):
    emptied(release).save(tmp_path / "r")
    done = CliRunner().invoke(app, ["disagreement", str(tmp_path / "r")], catch_exceptions=False)
    assert done.stdout == "No overall comparison is possible: no query is listed.\n"
    assert "What would help" in done.stderr
