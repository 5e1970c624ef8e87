"""The places of panels, their titles and their legend in a picture of several charts.

A picture is laid out with one font and read with another, which may be wider: so there is room for the widest.
"""

from __future__ import annotations

from collections.abc import Sequence

from blender_dp.report.text import widest
from blender_dp.report.theme import Spec

_BETWEEN = {"column": 84, "row": 80}  # pixels for the labels and the title of an axis, and the title of a panel
_SYMBOL = 24  # pixels of a legend's symbol, and the gap after it
_NARROWEST = 0.72  # the width of text in the font of the layout, as a share of `text_width`


def layout(names: Sequence[str], columns: int, width: float, style: Spec) -> Spec:
    """Properties that align panels of this width by their plots, with a legend that is not wider than they are."""
    entry = widest(names)
    total = columns * width + (columns - 1) * _BETWEEN["column"]
    across = max(int(total // (entry + _SYMBOL)), 1)
    legend = {**style["legend"], "columns": across, "columnPadding": 8 + (1 - _NARROWEST) * entry}
    title = {**style["title"], "frame": "group", "limit": _NARROWEST * width}
    return {"bounds": "flush", "spacing": _BETWEEN, "config": {**style, "legend": legend, "title": title}}
