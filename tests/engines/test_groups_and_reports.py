"""Every engine forms the same groups and counts the same reports."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pyarrow as pa
import pytest

from blender_dp import Entropy
from blender_dp.logs import PLAIN_COLUMNS, Problem, Tally, find
from blender_dp.stages.reporting import counted_reports, sum_counts
from blender_dp_device.channel.two_stage import Channel
from tests.engines.answers import KEY, records_of

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


def test_groups_are_split_and_shared_users_counted(engine):
    data = pa.Table.from_pylist([{"user": f"u{i}", "query": "q", "url": "x.example"} for i in range(20)])
    group, _ = engine.bound(engine.load(data, PLAIN_COLUMNS, "table"), 1, KEY)
    named, others = group.part(pa.array(["u3", "u5", None, "u5", "nobody"]))
    assert [user for user, *_ in records_of(named)] == ["u3", "u5"]
    assert (named.users, others.users) == (2, 18)
    assert (named.shared_users(others), named.shared_users(group), group.shared_users(named)) == (0, 2, 2)
    assert [part.users for part in group.part(pa.array([], pa.null()))] == [0, 20]


def test_reports_are_counted(engine, tmp_path):
    lines = ['{"head_list": "d", "cell": 1}'] * 3 + ['{"head_list": "d", "cell": 0}', '{"head_list": "e", "cell": 0}']
    lines += ['{"head_list": "d", "cell": 2}', '{"head_list": "d", "cell": -1}', '{"head_list": "d"}', "words"]
    (tmp_path / "reports.jsonl").write_text("\n".join(lines), encoding="utf-8")
    counts, tally = engine.report_counts(find(tmp_path / "reports.jsonl"), "d", 2)
    problems = {Problem.NOT_JSON: 1, Problem.ANOTHER_HEAD_LIST: 1, Problem.NO_SUCH_CELL: 3}
    assert (counts.tolist(), tally) == ([1, 3], Tally(9, 4, problems))


def test_clients_are_simulated_where_the_rows_are(engine, small_list):
    """There are as many reports as users, and the random streams differ between workers."""
    data = pa.Table.from_pylist([{"user": f"u{i}", "query": "google", "url": "www.google.com"} for i in range(3_000)])
    group, _ = engine.bound(engine.load(data, PLAIN_COLUMNS, "table"), 1, KEY)
    channel = Channel.of(small_list, 1, Fraction(1, 100), Fraction(85, 100))
    work = partial(counted_reports, head_list=small_list, channel=channel, entropy=Entropy.system())
    first, second = sum_counts(group.over_records(work)), sum_counts(group.over_records(work))
    assert first.sum() == second.sum() == group.users == 3_000
    assert first.tolist() != second.tolist()
