"""A chart of trends over several releases: the published shares, and the smoothed line with its band."""

from __future__ import annotations

from collections.abc import Iterator

from blender_dp.release.series import Series, Trends
from blender_dp.report.figure import NARROW
from blender_dp.report.lines import Axis, Point, line_chart
from blender_dp.report.theme import Spec

_PUBLISHED, _SMOOTHED = "published", "smoothed, with 95 % band"
_TICKS = 12  # at most this many rounds have a label each
_PANEL = 300  # points from one panel to the next


def trend_chart(trends: Trends, n: int, width: float = 920) -> Spec:
    """One panel for each of the n most popular queries."""
    shown = trends.series[:n]
    rounds = len(trends.names)
    every = -(-rounds // _TICKS)
    x = Axis("round", "d", ticks=range(1, rounds + 1, every), domain=(0.5, rounds + 0.5))
    columns = max(int(width // _PANEL), 1)
    return line_chart(
        [point for series in shown for point in _points(series)],
        x=x,
        y={series.query: Axis("share", ".2~%", zero=True) for series in shown},
        columns=columns,
        width=int(width / columns) - (80 if width > NARROW else 70),
        height=150,
        marks_only=(_PUBLISHED,),
    )


def _points(series: Series) -> Iterator[Point]:
    for number, point in enumerate(series.points, 1):
        yield Point(series.query, _SMOOTHED, number, point.smoothed, point.smoothed_low, point.smoothed_high)
        if point.share is not None:
            yield Point(series.query, _PUBLISHED, number, point.share)
