"""The charts of a release as Vega-Lite specifications."""

from __future__ import annotations

from typing import Any

from blender_dp.evaluation import Truth
from blender_dp.release import QueryEstimate, Release
from blender_dp.report.colours import BLENDED, CLIENT, OPT_IN, TRUTH

Spec = dict[str, Any]

_SHOWN = 20
_ROW_HEIGHT = 22
_STYLE = {"view": {"stroke": None}, "axis": {"gridColor": "#e8e8e8", "labelFontSize": 12, "titleFontSize": 12}}


def shares(release: Release, truth: Truth | None) -> Spec:
    """The most popular queries: blended estimate with its interval, both groups' estimates, and the truth if known."""
    rows = [_row(row, truth) for row in release.trends(_SHOWN)]
    layers = [
        {
            "mark": {"type": "rule", "color": BLENDED, "strokeWidth": 2},
            "encoding": {"x": _share("low"), "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "shape": "triangle-up", "color": OPT_IN, "size": 45},
            "encoding": {"x": _share("opt_in")},
        },
        {"mark": {"type": "point", "shape": "square", "color": CLIENT, "size": 35}, "encoding": {"x": _share("client")}},
        {"mark": {"type": "point", "filled": True, "color": BLENDED, "size": 70}, "encoding": {"x": _share("share")}},
    ]
    if truth is not None:
        layers.append(
            {"mark": {"type": "tick", "color": TRUTH, "thickness": 2, "height": 16}, "encoding": {"x": _share("truth")}}
        )
    return _styled({"data": {"values": rows}, "encoding": {"y": _queries()}, "layer": layers, **_size(640, len(rows))})


def against_truth(release: Release, truth: Truth) -> Spec:
    """Every listed query: estimate with error bars against the truth; a perfect release lies on the line."""
    rows = [_row(row, truth) for row in release.trends(len(release.queries))]
    ends = [0.0, max((row["truth"] for row in rows), default=1.0)]
    layers = [
        {
            "data": {"values": [{"truth": end, "share": end} for end in ends]},
            "mark": {"type": "line", "color": TRUTH, "strokeDash": [4, 4]},
            "encoding": {"x": _root("truth", "true share"), "y": _root("share", "blended estimate")},
        },
        {
            "mark": {"type": "rule", "color": BLENDED, "opacity": 0.5},
            "encoding": {"x": _root("truth", "true share"), "y": _root("low", "blended estimate"), "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "color": BLENDED, "size": 50},
            "encoding": {"x": _root("truth", "true share"), "y": _root("share", "blended estimate")},
        },
    ]
    return _styled({"data": {"values": rows}, "layer": layers, "width": 460, "height": 420})


def weights(release: Release) -> Spec:
    """How much of every estimate comes from the opt-in users and how much from the clients."""
    top = release.trends(_SHOWN)
    rows = [
        {"query": row.query, "group": group, "weight": weight}
        for row in top
        for group, weight in (("opt-in users", row.opt_in_weight), ("clients", 1 - row.opt_in_weight))
    ]
    colours = {"domain": ["opt-in users", "clients"], "range": [OPT_IN, CLIENT]}
    encoding = {
        "y": _queries(),
        "x": {"field": "weight", "type": "quantitative", "title": "weight in the blend", "axis": {"format": "%"}},
        "color": {"field": "group", "type": "nominal", "title": None, "scale": colours, "legend": {"orient": "top"}},
    }
    return _styled({"data": {"values": rows}, "mark": "bar", "encoding": encoding, **_size(640, len(top))})


def _row(row: QueryEstimate, truth: Truth | None) -> dict[str, Any]:
    return {
        "query": row.query,
        "share": row.share,
        "low": row.low,
        "high": row.high,
        "opt_in": row.opt_in_share,
        "client": row.client_share,
        "truth": None if truth is None else truth.query_share(row.query or ""),
    }


def _queries() -> Spec:
    return {"field": "query", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 220}}


def _share(field: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": "share of all users", "axis": {"format": ".2%"}}


def _root(field: str, title: str) -> Spec:
    # Shares span two orders of magnitude and can be 0, which a logarithmic axis cannot show.
    return {**_share(field), "title": title, "scale": {"type": "sqrt"}}


def _size(width: int, rows: int) -> Spec:
    return {"width": width, "height": _ROW_HEIGHT * max(rows, 3)}


def _styled(spec: Spec) -> Spec:
    return {**spec, "background": None, "config": _STYLE}
