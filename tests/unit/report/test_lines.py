from __future__ import annotations

import pytest

from blender_dp.report.colours import BLENDED, colours_of
from blender_dp.report.lines import Axis, Point, line_chart, png, svg

POINTS = [
    Point("NDCG", "tight", 1, 0.9, 0.8, 1.0),
    Point("NDCG", "tight", 2, 0.95, 0.9, 1.0),
    Point("NDCG", "printed", 1, 0.85),
    Point("L1", "tight", 1, 0.02, 0.01, 0.03),
]
AXES = {"L1": Axis("query L1", log=True), "NDCG": Axis("NDCG (1 is best)", domain=(0.5, 1)), "top": Axis("share", top=1.0)}


def test_each_panel_has_its_points_and_its_axis():
    chart = line_chart(POINTS, Axis("share", ".0%"), AXES, marks_only={"printed"})
    panels = {panel["title"]: panel for panel in chart["concat"]}
    assert list(panels) == ["L1", "NDCG", "top"]
    assert panels["top"]["layer"][1]["encoding"]["y"]["scale"]["domainMax"] == 1
    assert [row["y"] for row in panels["NDCG"]["data"]["values"]] == [0.9, 0.95, 0.85]
    assert panels["L1"]["layer"][1]["encoding"]["y"]["scale"]["type"] == "log"
    assert panels["NDCG"]["layer"][1]["encoding"]["y"]["scale"]["domain"] == [0.5, 1]
    assert panels["NDCG"]["encoding"]["x"]["axis"]["format"] == ".0%"


def test_every_line_has_a_colour_a_dash_and_a_mark_of_its_own():
    encoding = line_chart(POINTS, Axis("x"), AXES)["concat"][0]
    styles = [encoding["encoding"]["color"], encoding["layer"][1]["encoding"]["strokeDash"]]
    styles.append(encoding["layer"][-1]["encoding"]["shape"])
    for style in styles:
        assert style["scale"]["domain"] == ["tight", "printed"]
        assert len({str(value) for value in style["scale"]["range"]}) == 2


def test_colours_follow_the_name_and_do_not_repeat():
    assert colours_of(["a", "tight"])["tight"] == BLENDED
    assert len(set(colours_of([f"line {i}" for i in range(8)]).values())) == 8


@pytest.mark.slow
def test_charts_are_drawn_with_their_titles_and_escaped_names():
    points = [*POINTS, Point("NDCG", "<script>", 1, 0.9)]
    drawn = svg(line_chart(points, Axis("opt-in share", ".0%"), AXES))
    assert "opt-in share" in drawn
    assert "NDCG (1 is best)" in drawn
    assert "<script>" not in drawn
    assert png(line_chart(POINTS, Axis("x"), AXES)).startswith(b"\x89PNG")


@pytest.mark.slow
def test_characters_that_svg_cannot_contain_do_not_end_the_process():
    """The names of queries come from releases, and a release from anyone."""
    hostile = "a\x1b[2J\x00\uffff<b>"
    chart = line_chart([Point(hostile, hostile, 1.0, 1.0)], x=Axis(hostile), y={hostile: Axis(hostile)})
    assert "a�[2J��&lt;b&gt;" in svg(chart)
    assert png(chart).startswith(b"\x89PNG")
