"""The panels of a line chart on a page: each is a picture of its own, so that they flow with the width of the window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from blender_dp.report.figure import Draw, drawn, figure
from blender_dp.report.theme import Spec, on_page, variable

_GLYPHS = {"circle": "●", "square": "■", "triangle-up": "▲", "diamond": "◆", "cross": "✚"}
_WIDTHS = {2: 400}  # by the number of columns
_WIDTH = 300
_ASPECT = 0.62
_PADDING = {"left": 12, "right": 16, "top": 6, "bottom": 6}  # text may be wider in the reader's font than it was measured


def panels(chart: Spec, draw: Draw | None = None) -> Markup:
    """A chart of `line_chart` as HTML: a legend and its panels, in as many columns as fit, but not more than it has."""
    parts, columns = chart["concat"], min(chart["columns"], len(chart["concat"]))
    if columns == 1:
        pictures = [figure(lambda width, part=part: _picture(part, chart, width), draw) for part in parts]  # type: ignore[misc]
    else:
        width = _WIDTHS.get(columns, _WIDTH)
        pictures = [on_page((draw or drawn)(_picture(part, chart, width))) for part in parts]
    named = Markup("").join(
        Markup('<div><p class="name">{}</p>{}</div>').format(part["title"], picture)
        for part, picture in zip(parts, pictures, strict=True)
    )
    return Markup('<p class="legend">{}</p><div class="panels columns-{}">{}</div>').format(
        Markup(" ").join(_legend(chart)), columns, named
    )


def _picture(part: Spec, chart: Spec, width: float) -> Spec:
    """One panel without its title and its legend, which are HTML."""
    inner = {name: _without_legends(value) for name, value in part.items() if name != "title"}
    size = {"width": width, "height": min(_ASPECT * width, 360), "autosize": {"type": "fit", "contains": "padding"}}
    return {**inner, **size, "padding": _PADDING, "background": None, "config": chart["config"]}


def _without_legends(value: Any) -> Any:  # noqa: ANN401 (any part of a specification)
    if isinstance(value, dict):
        return {name: None if name == "legend" else _without_legends(one) for name, one in value.items()}
    return [_without_legends(one) for one in value] if isinstance(value, list) else value


def _legend(chart: Spec) -> Iterator[Markup]:
    first = chart["concat"][0]
    colour, shape = first["encoding"]["color"]["scale"], first["layer"][-1]["encoding"]["shape"]["scale"]
    for name, value, mark in zip(colour["domain"], colour["range"], shape["range"], strict=True):
        glyph = Markup('<b style="color: {}">{}</b>').format(variable(value), _GLYPHS[mark])
        yield Markup('<span class="key">{} {}</span>').format(glyph, name)
