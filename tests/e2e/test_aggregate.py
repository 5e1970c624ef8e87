"""blender-dp aggregate, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from blender_dp import Device, HeadList, ReportingList
from tests.lists import reporting


def test_aggregate_estimates_from_reports(command, tmp_path, small_list):
    """Every report is randomised as on a device; the shares are recovered, and reports for other lists are left out."""
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
def test_aggregate_inverts_the_channel_of_the_list(command, tmp_path, channel):
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
    """Schema 1 has no channel. The options are used instead; options that do not fit the reports are an error."""
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
