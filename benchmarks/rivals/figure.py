"""The errors of every row as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchmarks.rivals.settings import CURATOR, EVERYONE, FINDS, GIVEN, HYBRID, SETTINGS
from benchmarks.rivals.summary import MEASURES, Measure, Row
from blender_dp.report.colours import PAPER, colours_of
from blender_dp.report.layout import layout
from blender_dp.report.lines import svg
from blender_dp.report.text import widest
from blender_dp.report.theme import CONFIG

_TRUST = (HYBRID, GIVEN, FINDS, CURATOR, EVERYONE)
_SHOWN = MEASURES[:2]
_WIDTH, _STEP = 330, 20
_POWERS = (0.0001, 0.001, 0.01, 0.1, 1.0)


def draw(rows: Sequence[Row]) -> str:
    """NDCG and query L1 of all rows, one line of charts per setting, with bars of 95 % confidence."""
    charts = [_chart(rows, name, measure) for name in _settings(rows) for measure in _SHOWN]
    placed = layout(_TRUST, len(_SHOWN), _WIDTH, CONFIG)
    room = {"left": 8 + 0.2 * widest(row.rival.name for row in rows), "top": 8, "right": 16, "bottom": 8}
    placed["spacing"] = {**placed["spacing"], "column": 40}  # the names are on the left only
    return svg({"concat": charts, "columns": len(_SHOWN), "background": PAPER, "padding": room, **placed})


def _settings(rows: Sequence[Row]) -> list[str]:
    present = {row.setting.name for row in rows}
    return [setting.name for setting in SETTINGS if setting.name in present]


def _chart(rows: Sequence[Row], setting: str, measure: Measure) -> dict[str, Any]:
    here = [row for row in rows if row.setting.name == setting]
    colour = {
        "field": "trust", "type": "nominal", "legend": {"orient": "top", "title": None, "symbolOpacity": 1},
        "scale": {"domain": list(_TRUST), "range": list(colours_of(_TRUST).values())},
    }  # fmt: skip
    names = {"labels": measure is _SHOWN[0], "ticks": False, "grid": True, "labelPadding": 10}
    y = {"field": "what", "type": "nominal", "sort": None, "title": None, "axis": names}
    return {
        "title": f"{setting} shape, ε = {here[0].setting.epsilon:g}",
        "data": {"values": [_point(row, measure) for row in here]},
        "width": _WIDTH,
        "height": {"step": _STEP},
        "encoding": {"y": y, "color": colour},
        "layer": [
            {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": {"x": _x(measure, "low"), "x2": {"field": "high"}}},
            {"mark": {"type": "point", "filled": True, "size": 55, "opacity": 1}, "encoding": {"x": _x(measure, "mean")}},
        ],
    }


def _x(measure: Measure, field: str) -> dict[str, Any]:
    title = f"{measure.name} (better to the {'right' if measure.more_is_better else 'left'})"
    scale: dict[str, Any] = {"zero": False} if measure.more_is_better else {"type": "log", "nice": False, "padding": 8}
    axis: dict[str, Any] = {"tickCount": 5} if measure.more_is_better else {"values": _POWERS, "format": "~g"}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _point(row: Row, measure: Measure) -> dict[str, Any]:
    mean = measure.of(row)
    value = mean.value if mean else 0.0
    margin = mean.margin if mean and math.isfinite(mean.margin) else 0.0
    low, high = max(value - margin, value / 4), value + margin
    return {"what": row.rival.name, "trust": row.rival.trust, "mean": value, "low": low, "high": high}
