"""Charts on a page: each is drawn once for a wide window and once for a phone, and the page's style shows one of them."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from blender_dp.report.theme import Spec, drawable, on_page

Draw = Callable[[Spec], str]
"""Turns a Vega-Lite chart into SVG."""

WIDE, NARROW = 920, 350


def figure(chart: Callable[[float], Spec], draw: Draw | None = None) -> Markup:
    """A chart, which is a function of its width, as part of a page; `draw` is by default this process."""
    pictures = ((name, on_page((draw or drawn)(chart(width)))) for name, width in (("wide", WIDE), ("narrow", NARROW)))
    return Markup("").join(Markup('<div class="{}">{}</div>').format(name, picture) for name, picture in pictures)


def drawn(chart: Spec) -> str:
    """Draw a chart in this process."""
    import vl_convert  # noqa: PLC0415 (slow to load, and not needed if another process draws)

    return str(vl_convert.vegalite_to_svg(drawable(chart)))
