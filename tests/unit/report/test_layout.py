"""Text of pictures with several charts never touches its neighbours, even in a font that is wider than the layout's."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from blender_dp.report.layout import layout
from blender_dp.report.lines import Axis, Point, line_chart, svg
from blender_dp.report.text import text_width
from blender_dp.report.theme import CONFIG

NAMES = ["printed", "local hashing, 1,000 candidates", "local hashing, 100,000 candidates", "tight", "clients alone"]
_ENTRY = re.compile(
    r'<g transform="translate\(([\d.]+),([\d.]+)\)"><path class="background"[^>]* opacity="1"/>.*?'
    r'role-legend-label"[^>]*><text[^>]*translate\(([\d.]+),[^>]*>([^<]*)</text>'
)


def test_a_legend_is_not_wider_than_its_panels():
    for columns in (1, 2, 3):
        config = layout(NAMES, columns, 250, CONFIG)["config"]
        across = config["legend"]["columns"]
        assert across * text_width(NAMES[2]) <= columns * 250 + (columns - 1) * 84
    assert layout(["x" * 500], 1, 250, CONFIG)["config"]["legend"]["columns"] == 1


@pytest.mark.slow
def test_the_names_in_a_legend_have_room_for_the_widest_font():
    points = [Point(panel, name, 1, 1) for panel in "abc" for name in NAMES]
    drawn = svg(line_chart(points, Axis("x"), {panel: Axis("y") for panel in "abc"}))
    entries = [(float(x), float(y), float(label), name) for x, y, label, name in _ENTRY.findall(drawn)]
    assert [name for *_, name in entries] == NAMES
    rows = [pair for pair in pairwise(entries) if pair[0][1] == pair[1][1]]
    assert rows
    for (x, _, label, name), (following, *_) in rows:
        assert x + label + text_width(name) <= following


@pytest.mark.slow
def test_a_long_title_ends_before_the_next_panel():
    drawn = svg(line_chart([Point("w" * 200, "tight", 1, 1)], Axis("x"), {"w" * 200: Axis("y"), "b": Axis("y")}))
    title = re.search(r">(w+…)<", drawn)
    assert title
    assert text_width(title.group(1), 13) <= 250 + 84
