"""The errors of every row as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import vl_convert

from benchmarks.rivals.settings import CURATOR, EVERYONE, FINDS, GIVEN, HYBRID, SETTINGS
from benchmarks.rivals.summary import MEASURES, Measure, Row

_COLOURS = {HYBRID: "#1f5fa8", GIVEN: "#3a9a6b", FINDS: "#d9822b", CURATOR: "#9a6fb0", EVERYONE: "#777777"}
_SHOWN = MEASURES[:2]


def draw(rows: Sequence[Row]) -> str:
    """NDCG and query L1 of all rows, one line of charts per setting, with bars of two standard errors."""
    charts = [_chart(rows, name, measure) for name in _settings(rows) for measure in _SHOWN]
    spec = {"concat": charts, "columns": len(_SHOWN), "config": {"axis": {"gridColor": "#eeeeee", "labelLimit": 260}}}
    svg: str = vl_convert.vegalite_to_svg(spec)
    return svg


def _settings(rows: Sequence[Row]) -> list[str]:
    present = {row.setting.name for row in rows}
    return [setting.name for setting in SETTINGS if setting.name in present]


def _chart(rows: Sequence[Row], setting: str, measure: Measure) -> dict[str, Any]:
    here = [row for row in rows if row.setting.name == setting]
    scale = {"zero": False} if measure.more_is_better else {"type": "log"}
    colour = {
        "field": "trust", "type": "nominal", "title": None,
        "scale": {"domain": list(_COLOURS), "range": list(_COLOURS.values())},
    }  # fmt: skip
    best = "right" if measure.more_is_better else "left"
    y = {"field": "what", "type": "nominal", "sort": None, "title": None}

    def x(field: str) -> dict[str, Any]:
        title, axis = f"{measure.name} (better to the {best})", {"labelOverlap": "greedy", "labelSeparation": 8}
        return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}

    return {
        "title": f"{setting} shape, ε = {here[0].setting.epsilon:g}",
        "data": {"values": [_point(row, measure) for row in here]},
        "width": 300,
        "height": {"step": 16},
        "encoding": {"y": y, "color": colour},
        "layer": [
            {"mark": "rule", "encoding": {"x": x("low"), "x2": {"field": "high"}}},
            {"mark": {"type": "point", "filled": True, "size": 40}, "encoding": {"x": x("mean")}},
        ],
    }


def _point(row: Row, measure: Measure) -> dict[str, Any]:
    mean = measure.of(row)
    value, error = (mean.value, mean.error) if mean else (0.0, 0.0)
    low, high = max(value - 2 * error, value / 4), value + 2 * error
    return {"what": row.rival.name, "trust": row.rival.trust, "mean": value, "low": low, "high": high}
