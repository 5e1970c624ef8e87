from __future__ import annotations

import pytest

from blender_dp.release.series import Point, Series
from blender_dp.report.trend_panel import trend_panel

NAMES = ["January", "February", "March", "April"]


def point(share: float | None, smoothed: float) -> Point:
    low, high = (None, None) if share is None else (share - 0.001, share + 0.001)
    return Point(
        share=share, low=low, high=high, smoothed=smoothed, smoothed_low=smoothed - 0.002, smoothed_high=smoothed + 0.002
    )


def series(*points: Point) -> Series:
    return Series(query="q", points=points, change=0.0, change_low=0.0, change_high=0.0)


def test_the_axis_covers_everything_and_its_names_fit():
    chart = trend_panel(NAMES, series(point(0.01, 0.011), point(None, 0.012), point(0.02, 0.018), point(0.02, 0.02)), 220)
    low, high = chart["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert low < 0.009
    assert high > 0.022
    names = chart["layer"][-1]["data"]["values"]
    assert names[-1] == {"number": 3, "name": "April"}
    assert len(names) < 4
    assert chart["encoding"]["x"]["axis"]["values"] == [one["number"] for one in names]
    assert sum(chart["padding"][side] for side in ("left", "right")) + chart["width"] == pytest.approx(220)


def test_a_release_that_does_not_list_the_query_has_no_mark_of_its_own():
    chart = trend_panel(NAMES, series(point(0.01, 0.011), point(None, 0.012), point(0.02, 0.018), point(0.02, 0.02)), 300)
    filters = {str(layer["mark"]["type"]): layer["transform"][0]["filter"] for layer in chart["layer"][:-1]}
    assert filters["point"] == "isValid(datum.share)"
    assert filters["rule"] == "isValid(datum.low)"
    assert chart["data"]["values"][1]["share"] is None


def test_equal_values_have_an_axis():
    flat = Point(share=0.5, low=0.5, high=0.5, smoothed=0.5, smoothed_low=0.5, smoothed_high=0.5)
    low, high = trend_panel(["a", "b"], series(flat, flat), 300)["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert low < 0.5 < high
