"""Line charts with bands, as small multiples: Vega-Lite specifications, and their SVG and PNG.

    chart = line_chart(
        [Point("NDCG", "tight", 1.0, 0.98, low=0.97, high=0.99), ...],
        x=Axis("ε"),
        y={"NDCG": Axis("NDCG (1 is best)")},
    )
    Path("ndcg.svg").write_text(svg(chart))

Points with the same `panel` share a pair of axes, and those with the same `line` are joined in the order of x. A point
without `low` and `high` has no band. Lines named in `marks_only` are drawn as marks, without a line between them, and with
error bars instead of a band.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from blender_dp.report.colours import LINE, PAPER, colours_of
from blender_dp.report.figure import drawn
from blender_dp.report.layout import layout
from blender_dp.report.theme import CONFIG, PNG_SCALE, Spec, drawable
from blender_dp.report.ticks import log_ticks

_STYLE: Spec = {
    **CONFIG,
    "view": {"stroke": LINE},
    "legend": {**CONFIG["legend"], "symbolStrokeWidth": 0, "symbolSize": 110},
}
_MARGIN = 7  # pixels between the end of an axis and a mark or label there
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_MARKS = ("circle", "square", "triangle-up", "diamond", "cross")


@dataclass(frozen=True)
class Point:
    """One value of one line, with the ends of its band if it has one."""

    panel: str
    line: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Axis:
    """The title of an axis, the D3 format of its numbers (".0%" for shares), and its kind of scale."""

    title: str
    format: str | None = None
    log: bool = False
    zero: bool = False
    ticks: Sequence[float] | None = None
    domain: tuple[float, float] | None = None
    top: float | None = None
    """The end of the axis, if only that is fixed."""
    labels: Sequence[str] | None = None
    """The texts of the `ticks`, instead of their numbers."""

    def encoding(self, field: str) -> Spec:
        """The axis as part of a specification."""
        axis = {"title": self.title, "labelOverlap": True, "labelSeparation": 10}
        axis |= {name: value for name, value in (("format", self.format), ("values", self.ticks)) if value is not None}
        if self.ticks is not None and self.labels is not None:
            texts = [drawable(label) for label in self.labels]
            axis["labelExpr"] = f"{json.dumps(texts)}[indexof({json.dumps(list(self.ticks))}, datum.value)]"
        scale: Spec = {"type": "log", "nice": False} if self.log else {"zero": self.zero, "nice": True}
        if self.domain is not None:
            scale |= {"domain": list(self.domain), "nice": False}
        if self.top is not None:
            scale |= {"domainMax": self.top, "nice": False, "padding": _MARGIN}
        return {"field": field, "type": "quantitative", "axis": axis, "scale": scale}


def line_chart(
    points: Sequence[Point],
    x: Axis | Mapping[str, Axis],
    y: Mapping[str, Axis],
    *,
    columns: int = 3,
    width: int = 250,
    height: int = 180,
    marks_only: Collection[str] = (),
) -> Spec:
    """One panel for every entry of `y`, in that order. Panels share the legend, and `x` unless it has one for each."""
    names = list(dict.fromkeys(point.line for point in points))
    of_panel = {panel: [point for point in points if point.panel == panel] for panel in y}
    panels = [
        _panel(panel, _with_ticks(axis, here, height), here, _of(x, panel), names, marks_only)
        | {"width": width, "height": height}
        for (panel, axis), here in zip(y.items(), of_panel.values(), strict=True)
    ]
    placed = layout(names, min(columns, len(panels)), width, _STYLE)
    return {"concat": panels, "columns": columns, "background": PAPER, **placed}


def _with_ticks(axis: Axis, points: Sequence[Point], height: int) -> Axis:
    """Round numbers for a logarithmic axis: Vega would leave out labels, and keep those such as 0.007."""
    values = [value for one in points for value in (one.low, one.y, one.high) if value is not None and value > 0]
    if not (axis.log and axis.ticks is None and values):
        return axis
    return replace(axis, ticks=log_ticks(min(values), max(values), height))


def _of(x: Axis | Mapping[str, Axis], panel: str) -> Axis:
    return x if isinstance(x, Axis) else x[panel]


def svg(spec: Spec) -> str:
    """Draw a chart as SVG."""
    return drawn(spec)


def png(spec: Spec) -> bytes:
    """Draw a chart as PNG."""
    import vl_convert  # noqa: PLC0415 (slow to load)

    return bytes(vl_convert.vegalite_to_png(drawable(spec), scale=PNG_SCALE))


def _panel(
    panel: str, axis: Axis, points: Sequence[Point], x: Axis, names: Sequence[str], marks_only: Collection[str]
) -> Spec:
    rows = [{"line": point.line, "x": point.x, "y": point.y, "low": point.low, "high": point.high} for point in points]
    marked = {"field": "line", "oneOf": list(marks_only)}
    joined = {"filter": {"not": marked}}
    banded = {"filter": "isValid(datum.low) && isValid(datum.high)"}
    style = _by_line(names)
    y = axis.encoding("y")
    return {
        "title": panel,
        "data": {"values": rows},
        "encoding": {"x": x.encoding("x"), "color": style["color"]},
        "layer": [
            {
                "transform": [banded, joined],
                "mark": {"type": "area", "opacity": 0.18},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "transform": [joined],
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"y": y, "strokeDash": style["strokeDash"]},
            },
            {
                "transform": [banded, {"filter": marked}],
                "mark": {"type": "rule"},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 34, "opacity": 1},
                "encoding": {"y": y, "shape": style["shape"]},
            },
        ],
    }


def _by_line(names: Sequence[str]) -> dict[str, Spec]:
    """Every line has a colour, a dash and a mark of its own, so that colour alone never matters."""
    colours = colours_of(names)
    ranges = {
        "color": [colours[name] for name in names],
        "strokeDash": [_DASHES[i % len(_DASHES)] for i in range(len(names))],
        "shape": [_MARKS[i % len(_MARKS)] for i in range(len(names))],
    }
    legend = {"orient": "top", "title": None, "symbolOpacity": 1}
    return {
        channel: {
            "field": "line", "type": "nominal", "sort": None, "legend": legend,
            "scale": {"domain": list(names), "range": values},
        }
        for channel, values in ranges.items()
    }  # fmt: skip
