"""The chart of trends in .svg and .png files."""

from __future__ import annotations

import re

import pytest

from blender_dp.release.series import Point, Series, Trends
from blender_dp.report.lines import svg
from blender_dp.report.trend_charts import trend_chart


def series(query: str, rounds: int, share: float = 0.02) -> Series:
    low, high = 0.75 * share, 1.25 * share
    point = Point(share=share, low=0.5 * share, high=1.5 * share, smoothed=share, smoothed_low=low, smoothed_high=high)
    missing = Point(share=None, low=None, high=None, smoothed=share, smoothed_low=low, smoothed_high=high)
    points = (*[point] * (rounds - 1), missing)
    return Series(query=query, points=points, change=0.0, change_low=-share / 2, change_high=share / 2)


def texts(names: tuple[str, ...], share: float = 0.02) -> list[str]:
    """The texts of a chart of one query."""
    picture = svg(trend_chart(Trends(names, (series("google", len(names), share),)), 1))
    return re.findall(r"<text[^>]*>(.*?)</text>", picture)


def test_published_shares_have_error_bars():
    picture = svg(trend_chart(Trends(("may", "june", "july"), (series("google", 3),)), 1))
    marks = re.search(r'<g class="mark-rule role-mark.*?</g>', picture, re.DOTALL)
    assert marks is not None
    assert marks[0].count("<line") == 2


def test_the_axis_has_the_names_of_the_releases():
    shown = texts(("june", "july"))
    assert {"june", "july", "release"} <= set(shown)
    assert "1" not in shown


@pytest.mark.parametrize("share", [0.5, 0.02, 1e-4, 1e-6])
def test_shares_of_every_size_have_different_labels(share):
    labels = [text for text in texts(("june", "july"), share) if text.endswith("%")]
    assert len(labels) > 3
    assert len(set(labels)) == len(labels)
    assert max(float(label.removesuffix("%")) for label in labels) >= 100 * share


@pytest.mark.parametrize("rounds", [1, 12, 300])
def test_as_many_names_are_shown_as_fit(rounds):
    names = tuple(f"number {number:04}" for number in range(rounds))
    shown = [text for text in texts(names) if text.startswith("number")]
    assert 1 <= len(shown) <= 4
    assert shown[-1] == names[-1]


def test_long_and_hostile_names_are_drawn():
    shown = texts(("W" * 200, "</script><b>\"'\\", "a\x00b\ufffe"))
    assert any(text.startswith("WWW") and text.endswith("…") for text in shown)
    assert "a\ufffdb\ufffd" in shown
