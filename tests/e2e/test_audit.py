"""blender-dp audit, as a user runs it."""

from __future__ import annotations

import json

import pytest

from tests.lists import reporting

PRIVACY = ("--epsilon", "4", "--delta", "1e-5")


def test_extreme_parameters_are_audited_or_refused_quickly(command):
    hard = ("audit", "--epsilon", "0.7", "--delta", "1e-40", "--json")
    done = command(*hard, "--profile", "paper")
    assert [f["verdict"] for f in json.loads(done.stdout)["findings"]] == ["holds"] * 3
    refused = command(*hard)  # bounded noise has no step this small, and is refused at once instead of looping for ever
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "delta: 1e-40 is so small" in " ".join(refused.stderr.split())


def test_invalid_tables_are_a_violation(command, tmp_path):
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


def test_audit_reports_sabotaged_tables_as_violated(command, tmp_path):
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


def test_audit_refuses_a_release_that_promises_something_else(command, tmp_path, item_release):
    folder = tmp_path / "made"
    folder.mkdir()
    item_release.save(folder / "release.json")
    item_release.reporting_list.save(folder / "head-list.json")
    assert command("audit", "--release", "made").returncode == 0
    document = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    document["manifest"]["groups"][0]["epsilon"] = "1/2"
    (tmp_path / "promise.json").write_text(json.dumps(document), encoding="utf-8")
    done = command("audit", "--release", "promise.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "manifest.groups: does not follow from its parameters" in " ".join(done.stderr.split())


def test_audit_refuses_a_folder_whose_head_list_is_not_the_release_s(command, tmp_path, item_release):
    folder = tmp_path / "made"
    folder.mkdir()
    item_release.save(folder / "release.json")
    reporting(item_release.head_list, epsilon=20, f_c="0.9").save(folder / "head-list.json")
    done = command("audit", "--release", "made")
    assert (done.returncode, done.stdout) == (2, "")
    assert "is not the list of release.json" in " ".join(done.stderr.split())
