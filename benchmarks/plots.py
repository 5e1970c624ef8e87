"""Pictures of errors with error bars, as SVG files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import vl_convert

FOLDER = Path("docs/figures")
COLOURS = {"paper": "#d9822b", "tight": "#1f5fa8", "tight, opt-in alone": "#9a6fb0", "tight, client alone": "#3a9a6b"}


@dataclass(frozen=True)
class Point:
    """One mean with its standard error."""

    measure: str
    max_queries: int
    series: str
    x: float
    mean: float
    error: float


def save_errors(points: Sequence[Point], axis: str, name: str) -> Path:
    """Draw every measure (rows) for every M (columns) against x, with bars of two standard errors."""
    rows = [
        {**asdict(point), "low": max(point.mean - 2 * point.error, point.mean / 4), "high": point.mean + 2 * point.error}
        for point in points
    ]
    x = {"field": "x", "type": "quantitative", "title": axis, "scale": {"type": "log" if axis != "ε" else "linear"}}
    colour = {
        "field": "series", "type": "nominal", "title": None,
        "scale": {"domain": list(COLOURS), "range": list(COLOURS.values())},
    }  # fmt: skip
    charts = [
        {
            "title": f"{measure}, M = {size}",
            "data": {"values": [row for row in rows if (row["measure"], row["max_queries"]) == (measure, size)]},
            "width": 190,
            "height": 130,
            "encoding": {"x": x, "color": colour},
            "layer": [
                {"mark": "line", "encoding": {"y": _y("mean", measure)}},
                {"mark": "rule", "encoding": {"y": _y("low", measure), "y2": {"field": "high"}}},
                {"mark": {"type": "point", "filled": True, "size": 22}, "encoding": {"y": _y("mean", measure)}},
            ],
        }
        for measure in dict.fromkeys(point.measure for point in points)
        for size in sorted({point.max_queries for point in points})
    ]
    spec = {"concat": charts, "columns": len({p.max_queries for p in points}), "config": {"axis": {"gridColor": "#eeeeee"}}}
    path = FOLDER / f"utility-{name}.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
    return path


def _y(field: str, measure: str) -> dict[str, object]:
    scale = {"zero": False} if measure == "NDCG" else {"type": "log"}
    return {"field": field, "type": "quantitative", "title": None, "scale": scale}
