"""One query's share over several releases, as a small chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from blender_dp.release.series import Series
from blender_dp.report.colours import BLENDED, GREY, SOFT
from blender_dp.report.text import FONT_SIZE, shortened, widest
from blender_dp.report.theme import Spec, styled
from blender_dp.report.ticks import PERCENT, label_ticks, linear_ticks, percent

_TOP, _PLOT, _BOTTOM, _GAP = 8, 116, 32, 10
_BELOW = 14  # pixels between the plot and the names, so that they never touch the label of the lowest tick
_LABELS = 0.3  # of the width, at most, for the name of a release


def trend_panel(names: Sequence[str], series: Series, width: float) -> Spec:
    """The published estimates with their intervals, and the smoothed line with its band, over the releases' names."""
    rows = [{"number": number, **asdict(point)} for number, point in enumerate(series.points)]
    low, high = _ends([value for point in series.points for value in asdict(point).values() if value is not None])
    ticks = linear_ticks(low, high, _PLOT, vertical=True)
    labels = [shortened(name, _LABELS * width) for name in names]
    right = widest(labels) / 2 + 2  # half of a label is beyond the end of the axis
    left = max(widest(map(percent, ticks)) + _GAP, right)
    shown = label_ticks(labels, width - left - right)
    x = {
        "field": "number",
        "type": "quantitative",
        "scale": {"domain": [0, max(len(names) - 1, 1)], "nice": False},
        "axis": {"values": shown, "labels": False, "title": None},
    }
    y = {
        "type": "quantitative",
        "title": None,
        "scale": {"domain": [low, high], "nice": False, "zero": False},
        "axis": {"values": ticks, "format": PERCENT},
    }
    layers = [
        _layer({"type": "area", "color": BLENDED, "opacity": 0.2}, y, "smoothed_low", "smoothed_high"),
        _layer({"type": "rule", "color": GREY}, y, "low", "high"),
        _layer({"type": "point", "filled": True, "color": GREY, "size": 25, "opacity": 1}, y, "share"),
        _layer({"type": "line", "color": BLENDED, "strokeWidth": 2}, y, "smoothed"),
        _names(labels, shown),
    ]
    padding = {"left": left, "right": right, "top": _TOP, "bottom": _BOTTOM}
    chart = {"data": {"values": rows}, "encoding": {"x": x}, "layer": layers}
    return styled(chart, width=width, height=_TOP + _PLOT + _BOTTOM, padding=padding)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """The ends of the vertical axis: all values, and a little more."""
    low, high = min(values), max(values)
    more = 0.05 * (high - low) or 0.001
    return low - more, high + more


def _names(names: Sequence[str], shown: Sequence[int]) -> Spec:
    """Labels under the axis. They are marks, because an axis of numbers has no names."""
    return {
        "data": {"values": [{"number": number, "name": names[number]} for number in shown]},
        "mark": {"type": "text", "baseline": "top", "fontSize": FONT_SIZE, "color": SOFT},
        "encoding": {"y": {"value": _PLOT + _BELOW}, "text": {"field": "name"}},
    }


def _layer(mark: Spec, y: Spec, field: str, other: str | None = None) -> Spec:
    """One kind of mark; not every release lists the query, and then its own estimates are left out."""
    encoding = {"y": {**y, "field": field}, **({"y2": {"field": other}} if other else {})}
    return {
        "transform": [{"filter": f"isValid(datum.{field})"}],
        "mark": mark,
        "encoding": encoding,
    }
