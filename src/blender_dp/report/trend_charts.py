"""A chart of trends over several releases: the published shares with error bars, and the smoothed line with its band."""

from __future__ import annotations

from collections.abc import Iterator

from blender_dp.release.series import Series, Trends
from blender_dp.report.figure import NARROW
from blender_dp.report.lines import Axis, Point, line_chart
from blender_dp.report.text import shortened
from blender_dp.report.theme import Spec
from blender_dp.report.ticks import PERCENT, label_ticks

_PUBLISHED, _SMOOTHED = "published, with 95 % interval", "smoothed, with 95 % band"
_LABELS = 0.4  # of the width, at most, for the name of a release
_PANEL = 300  # points from one panel to the next


def trend_chart(trends: Trends, n: int, width: float = 920) -> Spec:
    """One panel for each of the n most popular queries."""
    shown = trends.series[:n]
    columns = max(int(width // _PANEL), 1)
    inner = int(width / columns) - (80 if width > NARROW else 70)
    return line_chart(
        [point for series in shown for point in _points(series)],
        x=_releases(trends.names, inner),
        y={series.query: Axis("share", PERCENT, zero=True) for series in shown},
        columns=columns,
        width=inner,
        height=150,
        marks_only=(_PUBLISHED,),
    )


def _releases(names: tuple[str, ...], width: float) -> Axis:
    """The names of the releases, as many as fit."""
    labels = [shortened(name, _LABELS * width) for name in names]
    ticks = label_ticks(labels, width * (len(names) - 1) / len(names))
    return Axis(
        "release",
        ticks=[tick + 1 for tick in ticks],
        labels=[labels[tick] for tick in ticks],
        domain=(0.5, len(names) + 0.5),
    )


def _points(series: Series) -> Iterator[Point]:
    for number, point in enumerate(series.points, 1):
        yield Point(series.query, _SMOOTHED, number, point.smoothed, point.smoothed_low, point.smoothed_high)
        if point.share is not None:
            yield Point(series.query, _PUBLISHED, number, point.share, point.low, point.high)
