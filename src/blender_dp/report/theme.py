"""One style for all pages and charts, in a light and a dark theme.

A chart uses the colours of the light theme, so that its SVG or PNG file is complete in itself. On a page, `on_page` replaces
them by CSS variables, and the reader's browser chooses the theme.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from blender_dp.report.colours import INK, LINE, SOFT, THEMES

Spec = dict[str, Any]

FONT = "Blender DP Sans"
"""The font that pages ship for their charts (`tools/report_fonts.py`)."""

PNG_SCALE = 2.0
"""Pixels per point."""

_NAMES = {light: name for name, (light, _) in THEMES.items()}
_COLOUR = re.compile(r'\b(fill|stroke)="(#[0-9a-f]{6})"')
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_TEXT = {"labelColor": SOFT, "titleColor": SOFT, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
CONFIG: Spec = {
    "aria": False,  # a figure on a page has one label for the whole chart
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {**_TEXT, "gridColor": LINE, "domain": False, "tickColor": LINE, "labelLimit": 0, "labelPadding": 5},
    "axisX": {"labelFlush": False},
    "axisY": {"titlePadding": 14},
    "legend": {**_TEXT, "labelLimit": 0, "titleColor": INK, "labelColor": INK},
    "title": {"color": INK, "fontSize": 13, "anchor": "start"},
}
"""The look of every chart, as Vega-Lite configuration."""


def variables() -> Markup:
    """The CSS rules that define the colours of both themes."""
    light, dark = ("; ".join(f"--{name}: {values[i]}" for name, values in THEMES.items()) for i in (0, 1))
    rules = f":root {{ color-scheme: light dark; {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    return Markup(rules)  # noqa: S704 (constants)


def fonts() -> Markup:
    """The CSS rules that contain the fonts of charts, so that charts look the same everywhere and a page loads nothing."""
    return Markup("\n").join(_font(name, weight) for name, weight in (("regular", 400), ("bold", 700)))


@cache
def _font(name: str, weight: int) -> Markup:
    content = b64encode(files("blender_dp.report").joinpath("fonts", f"{name}.woff2").read_bytes()).decode()
    source = f"url(data:font/woff2;base64,{content})"
    return Markup(f'@font-face {{ font-family: "{FONT}"; font-weight: {weight}; src: {source}; }}')  # noqa: S704 (constants)


def variable(colour: str) -> str:
    """A colour as a page writes it, so that it changes with the theme."""
    return f"var(--{_NAMES[colour]})"


def on_page(svg: str) -> Markup:
    """A chart's SVG with its colours as CSS variables."""

    def replaced(match: re.Match[str]) -> str:
        attribute, colour = match.groups()
        return f'{attribute}="{variable(colour)}"' if colour in _NAMES else match.group()

    return Markup(_COLOUR.sub(replaced, svg))  # noqa: S704 (our own SVG; Vega escapes its text)


def drawable(value: Any) -> Any:  # noqa: ANN401 (any part of a specification)
    """The same chart without characters that SVG cannot contain: the library that draws would end the whole process."""
    if isinstance(value, str):
        return _NOT_XML.sub("\ufffd", value)
    if isinstance(value, dict):
        return {name: drawable(one) for name, one in value.items()}
    return [drawable(one) for one in value] if isinstance(value, list | tuple) else value


def styled(chart: Spec, *, width: float, height: float, padding: Spec) -> Spec:
    """A complete Vega-Lite chart of exactly this size, padding included."""
    inner = {
        "width": width - padding.get("left", 0) - padding.get("right", 0),
        "height": height - padding.get("top", 0) - padding.get("bottom", 0),
    }
    return {**chart, **inner, "padding": padding, "autosize": {"type": "none"}, "background": None, "config": CONFIG}
