"""Offline search finds the rows that spec/vectors says, in that order."""

from __future__ import annotations

import pytest

from blender_dp_device.wire.suggestions import Suggester, bundle_rows
from tests.device.vectors.files import vectors

SEARCH = vectors("search")


@pytest.mark.parametrize("case", SEARCH["cases"], ids=lambda case: f"{case['typed']!r}, {case['n']}")
def test_searches(case):
    rows = bundle_rows(SEARCH)
    assert Suggester(rows).matching(case["typed"], case["n"]) == [rows[place] for place in case["places"]]
