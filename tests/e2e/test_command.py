"""The command as a user meets it: what it prints, writes and returns."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from blender_dp import Device, HeadList, Release, ReportingList, aol_like
from tests.generators.aol import write_aol
from tests.lists import reporting

PRIVACY = ("--epsilon", "4", "--delta", "1e-5")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "log.csv"
    pa_csv.write_csv(aol_like(2, users=40_000).rename_columns(["who", "what", "where"]), path)
    return path


COLUMNS = ("--user", "who", "--query", "what", "--url", "where")


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


def test_demo_repeats_itself_and_speaks_json(command):
    first, second = (command("demo", "--users", "60000", "--json") for _ in range(2))
    assert first.stdout == second.stdout
    assert first.stderr == ""
    summary = json.loads(first.stdout)
    assert set(summary["scores"]) == {"opt-in", "client", "blended"}
    assert summary["top"][0]["true_share"] > 0.01


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
    """One that nobody holds is listed too; a later run can take an earlier one's list."""
    HeadList.of([("nobody's query", "https://none.example/")]).save(tmp_path / "public.json")
    run = ("run", log, *PRIVACY, "--opt-in", "0.3", *COLUMNS, "--max-queries", "5000")
    done = command(*run, "--candidates", "public.json", "--out", "a")
    assert done.returncode == 0, done.stderr
    first = HeadList.load(tmp_path / "a/head-list.json")
    assert {"nobody's query", "google"} <= set(first.queries)
    assert command(*run, "--candidates", "a/head-list.json", "--out", "b").returncode == 0
    assert set(first.records()) <= set(HeadList.load(tmp_path / "b/head-list.json").records())


def test_run_mixes_parts(command, log):
    run = ("run", log, *PRIVACY, "--opt-in", "0.3", *COLUMNS, "--json", "--out", "r")
    done = command(*run, "--discovery", "laplace", "--estimator", "average", "--f-c", "0.9", "--subset-size", "2")
    assert done.returncode == 0, done.stderr
    settings = json.loads(done.stdout)["manifest"]["settings"]
    assert (settings["discovery"], settings["randomiser"], settings["estimator"]) == ("laplace", "subset", "average")
    assert (settings["f_c"], settings["subset_size"]) == ("9/10", 2)


def test_run_takes_opt_in_users_from_a_file_and_repeats_a_key(command, log, tmp_path):
    (tmp_path / "volunteers.txt").write_text("\n".join(str(i) for i in range(12_000)), encoding="utf-8")
    arguments = ("run", log, *PRIVACY, "--opt-in", "volunteers.txt", "--key", "8f01", *COLUMNS, "--json")
    manifests = [json.loads(command(*arguments, "--out", out).stdout)["manifest"] for out in ("a", "b")]
    assert manifests[0]["groups"][0]["users"] == 12_000
    assert manifests[0]["discovery_users"] == manifests[1]["discovery_users"]


def test_run_does_not_overwrite_without_being_told(command, log, tmp_path):
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "none.csv", *PRIVACY, "--opt-in", "0.1", "--out", "r"), "none.csv: does not exist"),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r"),
            "no column 'user' for the user; its first line names 3 columns",
        ),
        (
            ("run", "LOG", "--epsilon", "0.5", "--delta", "1e-5", "--opt-in", "0.1", "--out", "r", "--profile", "paper"),
            "ε > ln 2",
        ),
        (
            ("run", "LOG", "--epsilon", "0.5", "--delta", "1e-5", "--opt-in", "0.1", "--out", "r", "--discovery", "laplace"),
            "ε > ln 2",
        ),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r", "--estimator", "best", *COLUMNS),
            "estimator: 'best' is unknown. Use one of: likelihood, average",
        ),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r", "--candidates", "none.json", *COLUMNS),
            "none.json: cannot be read",
        ),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r", "--subset-size", "0", *COLUMNS),
            "subset_size: 0 is not a",
        ),
        (("disagreement", "nowhere"), "nowhere: cannot be read"),
        (
            ("run", "LOG", "--epsilon", "four", "--delta", "1e-5", "--opt-in", "0.1", "--out", "r"),
            "epsilon: 'four' is not a finite number",
        ),
        (("run", "LOG", *PRIVACY, "--opt-in", "2", "--out", "r", *COLUMNS), "opt_in: 2 is not between 0 and 1"),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "lost.txt", "--out", "r", *COLUMNS),
            "lost.txt: is neither a share nor a file",
        ),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r", "--key", "xyz", *COLUMNS),
            "key: 'xyz' is not hexadecimal",
        ),
        (
            ("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "r", "--profile", "loose", *COLUMNS),
            "profile: 'loose' is unknown",
        ),
        (("run", "LOG", "--opt-in", "0.1", "--out", "r"), "Missing option '--epsilon'"),
        (("run", "LOG", *PRIVACY, "--opt-in", "0.1", "--out", "/proc/none/r", *COLUMNS), "/proc/none"),
        (("trends", "nowhere"), "nowhere: cannot be read"),
        (("search", "LOG", "x"), "is not JSON"),
        (("audit", *PRIVACY, "--head-list", "LOG"), "is not JSON"),
        (("dance",), "No such command 'dance'"),
    ],
)
def test_a_mistake_is_one_clear_message(command, log, tmp_path, arguments, message):
    done = command(*(log if a == "LOG" else a for a in arguments))
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", "").split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "r").exists()


def test_a_list_of_users_must_be_text(command, log, tmp_path):
    (tmp_path / "users.txt").write_bytes(b"\xff\xfe1\n2\n")
    done = command("run", log, *PRIVACY, "--opt-in", "users.txt", "--out", "r", *COLUMNS)
    assert (done.returncode, done.stdout) == (2, "")
    assert "users.txt: is not UTF-8 text" in done.stderr


def test_brackets_are_only_brackets(command, tmp_path):
    """Names and queries are people's text, not markup."""
    rows = [f"{i},[/] [bold]x \\\\[/],https://x.example/[a]" for i in range(3000)]
    (tmp_path / "log.csv").write_text("\n".join(["user,query,url", *rows]), encoding="utf-8")
    done = command("run", "log.csv", *PRIVACY, "--opt-in", "0.5", "--out", "o[/]x")
    assert done.returncode == 0, done.stderr
    assert "trends o[/]x" in done.stdout
    assert "[/] [bold]x" in command("trends", "o[/]x").stdout
    assert "https://x.example/[a]" in command("search", "o[/]x", "[/]").stdout


def test_a_seeded_release_warns_wherever_it_is_read(command):
    assert command("demo", "--users", "60000", "--out", "made").returncode == 0
    for arguments in (("trends", "made"), ("search", "made", "goo")):
        assert "offers no privacy" in " ".join(command(*arguments).stderr.split())


def test_a_hard_parameter_is_no_trouble(command):
    hard = ("audit", "--epsilon", "0.7", "--delta", "1e-40", "--json")
    done = command(*hard, "--profile", "paper")
    assert [f["verdict"] for f in json.loads(done.stdout)["findings"]] == ["holds"] * 3
    refused = command(*hard)  # bounded noise has no step so small, and says so instead of trying for ever
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "delta: 1e-40 is so small" in " ".join(refused.stderr.split())


def test_tables_that_are_no_tables_are_a_violation(command, tmp_path):
    report = json.loads(command("audit", *PRIVACY, "--json").stdout)
    next(iter(report["tables"]["channels"].values()))["url_steps"].pop()
    (tmp_path / "tables.json").write_text(json.dumps(report), encoding="utf-8")
    done = command("audit", *PRIVACY, "--tables", "tables.json", "--json")
    assert done.returncode == 1
    finding = json.loads(done.stdout)["findings"][2]
    assert (finding["verdict"], finding["worst_epsilon"]) == ("violated", None)


def test_audit_holds_for_parameters_and_for_a_list(command, tmp_path, small_list):
    done = command("audit", *PRIVACY)
    assert done.returncode == 0
    assert done.stdout.count("holds") == 3
    assert "designs are possible" in done.stdout
    small_list.save(tmp_path / "names.json")
    findings = json.loads(command("audit", *PRIVACY, "--head-list", "names.json", "--json").stdout)["findings"]
    assert [f["verdict"] for f in findings] == ["holds"] * len(findings)
    assert len(findings) > 3
    assert all(f["worst_epsilon"] <= 4 for f in findings)


def test_audit_of_a_list_audits_its_own_channel(command, tmp_path, small_list):
    reporting(small_list, epsilon=4, f_c="0.9").save(tmp_path / "list.json")
    listed = ("--head-list", "list.json")
    report = json.loads(command("audit", *PRIVACY, *listed, "--json").stdout)
    assert [f["verdict"] for f in report["findings"]] == ["holds"] * 3
    assert list(report["tables"]["channels"]) == ["f_C 9/10, 1 per report"]
    assert command("audit", "--epsilon", "2", "--delta", "1e-5", *listed).returncode == 1
    assert command("audit", *PRIVACY, *listed, "--f-c", "0.8").returncode == 2
    (tmp_path / "tables.json").write_text(json.dumps(report), encoding="utf-8")
    assert command("audit", *PRIVACY, *listed, "--tables", "tables.json").returncode == 0
    other = command("audit", *PRIVACY, "--tables", "tables.json")
    assert other.returncode == 2
    assert "may be chosen" in other.stderr


@pytest.mark.parametrize(
    "option",
    [
        ("--epsilon", "4"), ("--delta", "1e-5"), ("--m-c", "2"), ("--profile", "paper"), ("--max-queries", "10"),
        ("--urls", "0"), ("--f-c", "0.8"), ("--subset-size", "2"), ("--head-list", "list.json"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_audit_refuses_options_that_a_release_would_override(command, option):
    done = command("audit", "--release", "made", *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option[0]}: cannot be combined with --release" in " ".join(done.stderr.split())


@pytest.mark.parametrize("option", [("--max-queries", "10"), ("--urls", "0"), ("--m-c", "1")], ids=" ".join)
def test_audit_refuses_options_that_a_head_list_would_override(command, tmp_path, small_list, option):
    reporting(small_list, epsilon=4, f_c="0.9").save(tmp_path / "list.json")
    done = command("audit", *PRIVACY, "--head-list", "list.json", *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option[0]}: cannot be combined with --head-list" in " ".join(done.stderr.split())


def test_audit_says_violated_for_sabotaged_tables(command, tmp_path):
    report = json.loads(command("audit", *PRIVACY, "--json").stdout)
    path = tmp_path / "tables.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    assert command("audit", *PRIVACY, "--tables", path).returncode == 0
    channel = next(iter(report["tables"]["channels"].values()))
    channel["query_step"] = str(int(channel["query_step"]) // 2)
    path.write_text(json.dumps(report), encoding="utf-8")
    done = command("audit", *PRIVACY, "--tables", path)
    assert done.returncode == 1
    assert done.stdout.count("VIOLATED") == 1
    assert json.loads(command("audit", *PRIVACY, "--tables", path, "--json").stdout)["findings"][2]["verdict"] == "violated"


def test_run_counts_bad_rows_and_stops_when_there_are_too_many(command, log, tmp_path):
    spoilt = tmp_path / "spoilt.csv"
    spoilt.write_bytes(log.read_bytes() + b'u,"open,x\nu,\xff,x\nu,a\n')
    run = ("run", spoilt, *PRIVACY, "--opt-in", "0.3", *COLUMNS, "--bad-rows", "bad.jsonl")
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


def test_run_takes_a_folder_of_aol_files(command, tmp_path):
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


def test_an_interrupt_leaves_nothing_behind(executable, tmp_path):
    arguments = [executable, "demo", "--users", "3000000", "--out", "r"]
    with subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        while not (tmp_path / "r").exists():
            time.sleep(0.1)
        time.sleep(1)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"Traceback" not in errors
    assert not (tmp_path / "r").exists()


def test_aggregate_estimates_from_reports(command, tmp_path, small_list):
    """Every report says the truth or lies as a device does; the shares come back, and foreign reports are left out."""
    listed = reporting(small_list, epsilon=4)
    listed.save(tmp_path / "list.json")
    device = Device(listed, epsilon=4)
    query, urls = small_list.entries[0]
    reports = [device.report(query, urls[0]) for _ in range(3000)]
    rows = [{"head_list": report.head_list, "cell": cell} for report in reports for cell in report.cells]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "reports.parquet")
    bad = [
        "no json",
        json.dumps({"head_list": "another", "cell": 0}),
        json.dumps({**rows[0], "cell": 10_000}),
        json.dumps({**rows[0], "cell": 1.5}),
    ]
    lines = [*(json.dumps(row) for row in rows), *bad]
    (tmp_path / "reports.jsonl").write_text("\n".join(lines), encoding="utf-8")
    options = ("--head-list", "list.json")
    done = command("aggregate", "reports.parquet", *options, "--out", "shares.parquet")
    assert done.returncode == 0, done.stderr
    assert query in done.stdout
    shares = pq.read_table(tmp_path / "shares.parquet").to_pylist()
    share = next(row for row in shares if (row["level"], row["query"]) == ("query", query))
    assert share["low"] - 0.1 < 1 < share["share"] + 0.1
    from_lines = json.loads(command("aggregate", "reports.jsonl", *options, "--json").stdout)
    assert from_lines["reports"]["records"] == 3000
    assert from_lines["reports"]["bad"] == {"not JSON": 1, "another head list": 1, "no such cell": 2}
    assert from_lines["top"][0]["share"] == pytest.approx(share["share"])
    assert command("aggregate", "reports.jsonl", *options, "--max-bad", "0").returncode == 2
    assert command("aggregate", "list.json", *options).returncode == 2
    contradicted = command("aggregate", "reports.parquet", *options, "--f-c", "0.9")
    assert contradicted.returncode == 2
    assert "f_c: the list was made with 17/20, not 0.9" in contradicted.stderr


def written(listed: ReportingList, records: list[tuple[str, str | None]], digest: str, path: Path) -> int:
    device = Device(listed, epsilon=listed.channel.epsilon, delta=listed.channel.delta)
    cells = [cell for record in records for cell in device.report(*record).cells]
    pq.write_table(pa.table({"head_list": [digest] * len(cells), "cell": cells}), path)
    return len(cells)


@pytest.mark.parametrize("channel", [{"f_c": "0.9", "subset_size": 2}, {"randomiser": "two-stage"}, {"f_c": "0.5"}])
def test_aggregate_undoes_the_channel_that_the_list_names(command, tmp_path, channel):
    listed = reporting(HeadList.of((f"q{i}", "https://u.example/") for i in range(6)), epsilon=4, **channel)
    listed.save(tmp_path / "list.json")
    written(listed, [("q3", "https://u.example/")] * 3001, listed.digest, tmp_path / "reports.parquet")
    done = command("aggregate", "reports.parquet", "--head-list", "list.json", "--json", "--out", "shares.parquet")
    assert done.returncode == 0, done.stderr
    top = json.loads(done.stdout)["top"]
    assert (top[0]["query"], top[0]["share"]) == ("q3", pytest.approx(1, abs=0.1))
    assert all(row["share"] == pytest.approx(0, abs=0.1) for row in top[1:])
    shares = pq.read_table(tmp_path / "shares.parquet").to_pylist()
    assert all(row["low"] <= row["share"] <= row["high"] for row in shares)
    assert max((row for row in shares if row["level"] == "record"), key=lambda row: row["share"])["query"] == "q3"


def test_aggregate_assumes_nothing_about_an_old_list(command, tmp_path):
    """Schema 1 names no channel. What is said instead is used; what does not fit the reports is an error, not a table."""
    names = HeadList.of([("google", None), ("yahoo", None)])
    names.save(tmp_path / "list.json")
    half = [("google", None), ("yahoo", None)] * 5000
    assert written(reporting(names, epsilon=4), half, names.digest, tmp_path / "reports.parquet") == 10_000
    options = ("aggregate", "reports.parquet", "--head-list", "list.json")
    for silent in ((), ("--epsilon", "4", "--subset-size", "1"), ("--f-c", "0.85", "--subset-size", "1")):
        refused = command(*options, *silent)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "does not state how devices randomise" in " ".join(refused.stderr.split())
    sizeless = command(*options, "--epsilon", "4", "--f-c", "0.85")
    assert (sizeless.returncode, sizeless.stdout) == (2, "")
    assert "subset_size" in sizeless.stderr
    right = command(*options, "--epsilon", "4", "--f-c", "0.85", "--subset-size", "1", "--json")
    assert [row["share"] for row in json.loads(right.stdout)["top"]] == pytest.approx([0.5, 0.5], abs=0.05)
    wrong = command(*options, "--epsilon", "2", "--f-c", "0.85", "--subset-size", "1")
    assert wrong.returncode == 2
    said = " ".join(wrong.stderr.split())
    assert "the shares of the listed queries add up to 1.1" in said
    assert "standard errors off" in said
    assert command(*options, "--epsilon", "4", "--f-c", "0.85", "--subset-size", "2").returncode == 2


@pytest.mark.parametrize("verb", ["demo", "run", "search", "trends", "disagreement", "aggregate", "audit"])
def test_help_teaches_by_example(command, verb):
    done = command(verb, "--help")
    assert done.returncode == 0
    assert "Examples:" in done.stdout
    assert f"blender-dp {verb}" in done.stdout


def test_alone_it_shows_its_verbs(command):
    done = command()
    assert all(verb in done.stdout for verb in ("demo", "run", "search", "trends", "disagreement", "aggregate", "audit"))
    assert command("--version").stdout.startswith("blender-dp 0.")


def test_only_spark_reads_uris(command, log, tmp_path):
    done = command("run", f"file://{log}", *PRIVACY, "--opt-in", "0.3", "--out", "r", *COLUMNS)
    assert (done.returncode, done.stdout) == (2, "")
    assert "only Spark reads URIs" in done.stderr
    assert "--engine spark" in done.stderr
    assert list(tmp_path.glob("r*")) == []
