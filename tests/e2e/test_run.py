"""blender-dp run and the verbs that read its output, as a user runs them."""

from __future__ import annotations

import json

from blender_dp import HeadList, Release
from tests.generators.aol import write_aol

PRIVACY = ("--epsilon", "4", "--delta", "1e-5")
COLUMNS = ("--user", "who", "--query", "what", "--url", "where")


def test_run_then_trends_then_search(command, log, tmp_path):
    done = command(
        "run", log, *PRIVACY, "--opt-in", "0.3", "--max-queries", "10", "--profile", "paper", "--out", "r", *COLUMNS
    )
    assert done.returncode == 0, done.stderr
    assert "queries listed" in done.stdout
    assert not Release.load(tmp_path / "r/release.json").manifest.is_seeded
    assert "google" in command("trends", "r", "-n", "3").stdout
    assert "https://www.google.com/" in command("search", "r/release.json", "GOOG").stdout
    assert len(json.loads(command("trends", "r", "-n", "3", "--json").stdout)) == 3
    assert json.loads(command("search", "r", "goog", "--json").stdout)[0]["query"] == "google"
    nothing = command("search", "r", "zzzz")
    assert (nothing.returncode, nothing.stdout) == (0, "")
    assert "No listed query" in nothing.stderr


def test_run_then_disagreement(command, log):
    assert command("run", log, *PRIVACY, "--opt-in", "0.3", "--max-queries", "10", "--out", "r", *COLUMNS).returncode == 0
    done = command("disagreement", "r", "-n", "2")
    assert done.returncode == 0, done.stderr
    for text in ("Queries on which opt-in users and clients differ most", "Records on which", "10 degrees of freedom"):
        assert text in done.stdout
    report = json.loads(command("disagreement", "r/release.json", "--json").stdout)
    assert (len(report["queries"]), report["degrees"]) == (10, 10)
    assert f"{report['p_value']:.2g}." in " ".join(done.stdout.split())


def test_run_with_a_small_epsilon(command, log):
    done = command(
        "run",
        log,
        "--epsilon",
        "0.1",
        "--delta",
        "1e-3",
        "--opt-in",
        "0.5",
        "--out",
        "r",
        "--json",
        *COLUMNS,
        "--force-weak-privacy",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["manifest"]["settings"]["epsilon"] == "1/10"
    assert command("trends", "r").returncode == 0


def test_run_refuses_weak_privacy_and_warns(command, log, tmp_path):
    run = ("run", log, "--epsilon", "4", "--opt-in", "0.5", "--out", "r", *COLUMNS)
    refused = command(*run, "--delta", "0.01")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "would expose records that only one person has" in " ".join(refused.stderr.split())
    assert not (tmp_path / "r/release.json").exists()
    forced = json.loads(command(*run, "--delta", "0.01", "--force-weak-privacy", "--json").stdout)
    assert forced["manifest"]["weak_privacy_allowed"]
    assert "would expose" in forced["privacy_warnings"][0]
    done = command(*run, "--delta", "1e-5", "--force")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning:") == 1
    assert "is more than a tenth of 1 / " in " ".join(done.stderr.split())
    assert "records that only one user has are expected to be listed" in " ".join(done.stdout.split())


def test_run_lists_public_candidates(command, log, tmp_path):
    """A candidate that nobody has is listed too; a later run can use the list of an earlier one."""
    HeadList.of([("nobody's query", "https://none.example/")]).save(tmp_path / "public.json")
    run = ("run", log, *PRIVACY, "--opt-in", "0.3", *COLUMNS, "--max-queries", "5000")
    done = command(*run, "--candidates", "public.json", "--out", "a")
    assert done.returncode == 0, done.stderr
    first = HeadList.load(tmp_path / "a/head-list.json")
    assert {"nobody's query", "google"} <= set(first.queries)
    assert command(*run, "--candidates", "a/head-list.json", "--out", "b").returncode == 0
    assert set(first.records()) <= set(HeadList.load(tmp_path / "b/head-list.json").records())


def test_run_combines_parts_of_both_profiles(command, log):
    run = ("run", log, *PRIVACY, "--opt-in", "0.3", *COLUMNS, "--json", "--out", "r")
    done = command(*run, "--discovery", "laplace", "--estimator", "average", "--f-c", "0.9", "--subset-size", "2")
    assert done.returncode == 0, done.stderr
    settings = json.loads(done.stdout)["manifest"]["settings"]
    assert (settings["discovery"], settings["randomiser"], settings["estimator"]) == ("laplace", "subset", "average")
    assert (settings["f_c"], settings["subset_size"]) == ("9/10", 2)


def test_run_reads_opt_in_users_from_a_file_and_a_key_repeats_it(command, log, tmp_path):
    (tmp_path / "volunteers.txt").write_text("\n".join(str(i) for i in range(12_000)), encoding="utf-8")
    arguments = ("run", log, *PRIVACY, "--opt-in", "volunteers.txt", "--key", "8f01", *COLUMNS, "--json")
    manifests = [json.loads(command(*arguments, "--out", out).stdout)["manifest"] for out in ("a", "b")]
    assert manifests[0]["groups"][0]["users"] == 12_000
    assert manifests[0]["discovery_users"] == manifests[1]["discovery_users"]


def test_run_overwrites_a_release_only_with_force(command, log, tmp_path):
    arguments = ("run", log, *PRIVACY, "--opt-in", "0.3", *COLUMNS, "--out", "r")
    assert command(*arguments).returncode == 0
    before = (tmp_path / "r/release.json").read_bytes()
    refused = command(*arguments)
    assert refused.returncode == 2
    assert "already contains a release" in refused.stderr
    assert (tmp_path / "r/release.json").read_bytes() == before
    demo = command("demo", "--users", "2000", "--out", "r")
    assert demo.returncode == 2
    assert "already contains a release" in demo.stderr
    assert command(*arguments, "--force").returncode == 0
    assert (tmp_path / "r/release.json").read_bytes() != before


def test_run_counts_bad_rows_and_stops_when_there_are_too_many(command, log, tmp_path):
    bad_log = tmp_path / "bad.csv"
    bad_log.write_bytes(log.read_bytes() + b'u,"open,x\nu,\xff,x\nu,a\n')
    run = ("run", bad_log, *PRIVACY, "--opt-in", "0.3", *COLUMNS, "--bad-rows", "bad.jsonl")
    done = command(*run, "--out", "r", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["log"]
    assert rows["rows"] == 40_003
    assert rows["bad"] == {"wrong number of columns": 1, "broken quotes": 1, "not UTF-8": 1}
    reasons = [json.loads(line)["reason"] for line in (tmp_path / "bad.jsonl").read_text("utf-8").splitlines()]
    assert sorted(reasons) == sorted(rows["bad"])
    assert (tmp_path / "bad.jsonl").stat().st_mode & 0o077 == 0
    assert "bad: broken quotes" in command(*run, "--out", "r2", "--max-bad", "0.001").stdout
    done = command(*run, "--out", "r3", "--max-bad", "0.00001")
    assert done.returncode == 2
    assert "3 of 40,003 rows are bad" in done.stderr
    assert not (tmp_path / "r3").exists()


def test_run_reads_a_folder_of_aol_files(command, tmp_path):
    write_aol(tmp_path / "aol", 300_000, files=3, compress=True)
    run = ("run", "aol", *PRIVACY, "--opt-in", "0.5", "--memory", "200MB", "--key", "77", "--json")
    first = command(*run, "--out", "a")
    assert first.returncode == 0, first.stderr
    groups = [
        [group["users"] for group in json.loads(done.stdout)["manifest"]["groups"]]
        for done in (first, command(*run, "--out", "b", "--simulation", "cells"))
    ]
    assert groups[0] == groups[1]


def test_run_on_single_items(command, log):
    run = ("run", log, *PRIVACY, "--opt-in", "0.3", "--user", "who", "--query", "what", "--no-url", "--out", "items")
    assert command(*run).returncode == 0
    assert "google" in command("trends", "items").stdout
    assert "https" not in command("search", "items", "goo").stdout
