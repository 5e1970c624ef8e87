"""The reports of a round as a file."""

from __future__ import annotations

import os

import numpy as np

from blender_dp.collector.storage.report_counting import count_in_database
from blender_dp.engines import DuckDBEngine
from blender_dp.logs import find_reports
from blender_dp_device.records.head_list import HeadList
from tests.collector_http.warm_process import ended


def exported(live, file, *round_id):
    given = {**os.environ, "BLENDER_DP_URL": live.url, "BLENDER_DP_TOKEN": live.token}
    return ended(["round", "export", *round_id, "--out", file], given)


def test_the_reports_of_a_round_as_a_file(live, tmp_path):
    """`blender-dp aggregate` counts the same reports as the release."""
    released = live.released(live.campaign(keep_reports_days=1))
    file = tmp_path / "reports.parquet"
    assert exported(live, file, released["id"]).returncode == 0
    content = live.service.documents.content(released["head_list"], "head-list")
    counts, tally = DuckDBEngine().report_counts(
        find_reports([file]), content["list_digest"], HeadList.from_document(content["head_list"]).cell_count
    )
    assert not tally.bad
    with live.service.rounds.store.read() as connection:
        expected, clients = count_in_database(connection, released["id"], len(counts))
    assert clients == 300
    np.testing.assert_array_equal(counts, expected)


def test_deleted_reports_are_not_exported(ready, tmp_path):
    live, released = ready
    while live.service.rounds.retention.delete_reports():
        pass
    done = exported(live, tmp_path / "reports.parquet", released["id"])
    assert done.returncode == 2
    assert "its reports were deleted" in done.stderr


def test_only_a_round_that_is_over_is_exported(live, tmp_path):
    round_id = live.opened(live.campaign())
    with live.http(live.token) as http:
        answer = http.get(f"/v1/operator/rounds/{round_id}/reports")
        missing = http.get(f"/v1/operator/rounds/{'0' * 32}/reports")
    assert (answer.status_code, missing.status_code) == (409, 404)
    file = tmp_path / "reports.parquet"
    done = exported(live, file, round_id)
    assert done.returncode == 2
    assert "409" in done.stderr
    assert list(tmp_path.glob("*.parquet*")) == []
