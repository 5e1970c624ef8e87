"""A small table as a chart, so that it can be drawn as SVG and PNG."""

from __future__ import annotations

import pyarrow as pa

from blender_dp.report.colours import LINE, PAPER
from blender_dp.report.theme import CONFIG, Spec

_ROW, _COLUMN = 24, 170


def table_chart(table: pa.Table) -> Spec:
    """One text per cell, with the names of the columns on top; whole numbers get separators."""
    names = table.column_names
    cells = [
        {"row": number, "column": name, "text": f"{value:,}" if isinstance(value, int) else str(value)}
        for number, row in enumerate(table.to_pylist())
        for name, value in row.items()
    ]
    axis = {"orient": "top", "labelAngle": 0, "title": None, "domain": False, "ticks": False, "labelFontWeight": "bold"}
    return {
        "data": {"values": cells},
        "mark": {"type": "text", "fontSize": 12},
        "encoding": {
            "x": {"field": "column", "type": "nominal", "sort": names, "axis": axis},
            "y": {"field": "row", "type": "ordinal", "axis": None},
            "text": {"field": "text"},
        },
        "width": _COLUMN * len(names),
        "height": _ROW * max(table.num_rows, 1),
        "background": PAPER,
        "config": {**CONFIG, "view": {"stroke": LINE}},
    }
