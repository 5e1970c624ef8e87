from __future__ import annotations

import re

from blender_dp.report.lines import Axis, Point, line_chart
from blender_dp.report.panels import panels

POINTS = [Point(panel, line, x, 0.1 * x) for panel in ("L1", "<b>") for line in ("tight", "<i>") for x in (1, 2)]


def drawn(columns: int) -> tuple[str, list[dict]]:
    """The HTML, and the charts that were drawn."""
    charts: list[dict] = []

    def draw(chart: dict) -> str:
        charts.append(chart)
        return "<svg/>"

    axes = {"L1": Axis("L1"), "<b>": Axis("other")}
    return str(panels(line_chart(POINTS, Axis("ε"), axes, columns=columns), draw)), charts


def test_every_panel_is_a_picture_of_its_own_with_its_name_in_html():
    html, charts = drawn(columns=2)
    assert [len(chart["data"]["values"]) for chart in charts] == [4, 4]
    assert re.findall(r'<p class="name">(.*?)</p>', html) == ["L1", "&lt;b&gt;"]
    assert html.count("<svg/>") == 2
    assert all("title" not in chart for chart in charts)


def test_the_legend_is_html_in_the_colours_of_the_page():
    html, charts = drawn(columns=2)
    assert re.findall(r'<b style="color: (.*?)">(.)</b> (.*?)</span>', html) == [
        ("var(--blue)", "●", "tight"),
        ("var(--orange)", "■", "&lt;i&gt;"),
    ]
    assert "'legend': {'orient'" not in str(charts)


def test_a_single_column_is_drawn_for_a_wide_window_and_for_a_phone():
    html, charts = drawn(columns=1)
    assert len(charts) == 4
    assert len({chart["width"] for chart in charts}) == 2
    assert html.count('class="narrow"') == 2
