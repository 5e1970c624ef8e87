"""The charts of a release as Vega-Lite specifications, each for a given width in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blender_dp.evaluation import Truth
from blender_dp.release import QueryEstimate, Release
from blender_dp.report.colours import BLENDED, CLIENT, INK, OPT_IN, TRUTH
from blender_dp.report.text import FONT_SIZE, shortened, widest
from blender_dp.report.theme import Spec, styled
from blender_dp.report.ticks import PERCENT, linear_ticks, percent, root_ticks

_SHOWN = 20
_ROW_HEIGHT = 24
_NAMES = 0.4  # of the width, at most, for the names of queries
_GAP = 10  # pixels between an axis and its labels
_TOP, _BOTTOM, _TITLE = 8, 46, 22  # room above the plot, below it, and for the title of a vertical axis


def shares(release: Release, truth: Truth | None, width: float) -> Spec:
    """The most popular queries: blended estimate with its interval, both groups' estimates, and the truth if known."""
    rows = [_row(row, truth) for row in release.trends(_SHOWN)]
    layers = [
        _mark({"type": "rule", "color": BLENDED, "strokeWidth": 2}, x="low", x2="high"),
        _mark({"type": "point", "shape": "triangle-up", "color": OPT_IN, "size": 45}, x="opt_in"),
        _mark({"type": "point", "shape": "square", "color": CLIENT, "size": 35}, x="client"),
        _mark({"type": "point", "filled": True, "opacity": 1, "color": BLENDED, "size": 70}, x="share"),
    ]
    if truth is not None:
        layers.append(_mark({"type": "tick", "color": TRUTH, "thickness": 2, "height": 16}, x="truth"))
    values = [row[name] for row in rows for name in ("low", "high", "opt_in", "client", "truth") if row[name] is not None]
    ends = min([0.0, *values]), max(values, default=0.0) or 1.0
    return _by_query(layers, rows, ends, "share of all users", width)


def weights(release: Release, width: float) -> Spec:
    """How much of every estimate comes from the opt-in users and how much from the clients."""
    rows = [{"query": row.query, "weight": row.opt_in_weight, "all": 1.0} for row in release.trends(_SHOWN)]
    layers = [
        _mark({"type": "bar", "color": OPT_IN, "height": 14}, x="weight"),
        _mark({"type": "bar", "color": CLIENT, "height": 14}, x="weight", x2="all"),
    ]
    return _by_query(layers, rows, (0.0, 1.0), "weight in the blend", width)


def against_truth(release: Release, truth: Truth, width: float) -> Spec:
    """Every listed query: estimate with error bars against the truth; a perfect release lies on the line."""
    rows = [_row(row, truth) for row in release.trends(len(release.queries))]
    high = max((max(row["truth"], row["high"]) for row in rows), default=0.0) or 1.0
    height = min(width, 460)
    ticks = root_ticks(high, height - _BOTTOM - _TOP - 2 * _TITLE)
    layers = [
        {
            "data": {"values": [{"truth": end, "share": end} for end in (0.0, high)]},
            **_mark({"type": "line", "color": TRUTH, "strokeDash": [4, 4]}, x="truth", y="share"),
        },
        _mark({"type": "rule", "color": BLENDED, "opacity": 0.6}, x="truth", y="low", y2="high"),
        _mark({"type": "point", "filled": True, "opacity": 1, "color": BLENDED, "size": 50}, x="truth", y="share"),
    ]
    # Shares span two orders of magnitude and can be 0, which a logarithmic axis cannot show.
    axes = {
        "x": _axis(ticks, (0.0, high), "true share", "sqrt"),
        "y": _axis(ticks, (0.0, high), "blended estimate", "sqrt"),
    }
    left = widest(map(percent, ticks)) + _GAP + _TITLE
    return styled(_layered(layers, rows, axes), width=width, height=height, padding=_padding(left, ticks))


def _by_query(layers: list[Spec], rows: list[Spec], ends: tuple[float, float], title: str, width: float) -> Spec:
    """A chart with one line per query, whose name is on the left."""
    room = min(widest(row["query"] for row in rows), _NAMES * width)
    ticks = linear_ticks(*ends, width - room - 5 * _GAP)
    named = [{**row, "rank": rank, "name": shortened(row["query"], room)} for rank, row in enumerate(rows)]
    names = {"type": "text", "align": "right", "color": INK, "fontSize": FONT_SIZE}
    axes = {
        "x": _axis(ticks, ends, title),
        "y": {"field": "rank", "type": "ordinal", "axis": {"labels": False, "ticks": False, "title": None, "grid": True}},
    }
    chart = _layered([*layers, {"mark": names, "encoding": {"text": {"field": "name"}, "x": {"value": -_GAP}}}], named, axes)
    height = _TOP + _ROW_HEIGHT * max(len(rows), 3) + _BOTTOM
    return styled(chart, width=width, height=height, padding=_padding(room + 2 * _GAP, ticks))


def _mark(mark: Spec, **fields: str) -> Spec:
    return {"mark": mark, "encoding": {channel: {"field": field} for channel, field in fields.items()}}


def _layered(layers: list[Spec], rows: list[Spec], axes: dict[str, Spec]) -> Spec:
    """The layers on common axes, except for places that are fixed in pixels."""
    placed = [
        {**layer, "encoding": layer["encoding"] | {name: _on_axis(axis, layer, name) for name, axis in axes.items()}}
        for layer in layers
    ]
    return {"data": {"values": rows}, "layer": placed}


def _on_axis(axis: Spec, layer: Spec, name: str) -> Spec:
    own = layer["encoding"].get(name, {})
    return own if "value" in own else {**axis, **own}


def _axis(ticks: Sequence[float], domain: tuple[float, float], title: str, scale: str = "linear") -> Spec:
    return {
        "type": "quantitative",
        "title": title,
        "scale": {"type": scale, "domain": list(domain), "nice": False},
        "axis": {"values": list(ticks), "format": PERCENT},
    }


def _padding(left: float, ticks: Sequence[float]) -> dict[str, float]:
    """Room around the plot; half of the last label is to the right of it."""
    return {"left": left, "right": widest(map(percent, ticks)) / 2 + 2, "top": _TOP, "bottom": _BOTTOM}


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
