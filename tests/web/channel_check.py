"""Compares counts of the TypeScript client's reports, read as JSON, with the exact channel; false-alarm rate 1e-6 in all."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from blender_dp_device.channel.subset import SubsetChannel, channel_of
from blender_dp_device.records.reporting_list import ReportingList
from tests.device.channel import test_channel, test_subset
from tests.statistical import checks


def main() -> None:
    """Fail if the counts of any case do not follow the channel of its list."""
    cases = json.load(sys.stdin)
    checks.ALARM /= len(cases)
    for case in cases:
        check(case)


def check(case: dict[str, Any]) -> None:
    """Compare the counts of whole reports, so that dependence between their cells is detected as well."""
    expected = distribution(ReportingList.from_document(case["head_list"]), **case["record"])
    assert set(case["counts"]) <= set(expected), "a report that is impossible"
    observed = np.array([case["counts"].get(cells, 0) for cells in expected])
    checks.assert_counts(observed, np.array(list(expected.values())))


def distribution(listed: ReportingList, query: str | None, url: str | None) -> dict[str, float]:
    """The probability of every report of a record, by its cells."""
    head_list = listed.head_list
    channel, position = channel_of(head_list, listed.channel), head_list.position(query, url)
    if isinstance(channel, SubsetChannel):
        rows = test_subset.closed_form(channel, *position)
        return {cells(head_list.starts, report): float(share) for report, share in rows.items()}
    weights = test_channel.closed_form(channel, *position)
    return {cells(head_list.starts, [place]): weight / channel.words**2 for place, weight in weights.items()}


def cells(starts: tuple[int, ...], report: Any) -> str:
    return ",".join(str(starts[query] + url) for query, url in report)


if __name__ == "__main__":
    main()
