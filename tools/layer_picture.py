"""A picture of a layered import graph, as SVG: one row per layer, arrows from the importer down to the imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

BOX, GAP, ROW, PAD = 24, 26, 62, 12  # height of a box, space between boxes, distance of rows, space in a box
LETTER = 7.2  # width of a letter at 12 pixels
STYLE = (
    "rect{fill:#eef2ff;stroke:#6478c8}text{font:12px ui-monospace,monospace;fill:#1d2433;text-anchor:middle}"
    "path{fill:none;stroke:#8a94a6}marker path{fill:#8a94a6;stroke:none}"
)


def picture(layers: Sequence[Sequence[str]], edges: Mapping[str, set[str]], title: str) -> str:
    """Draw the layers from the top down. Modules alternate in their columns, so that arrows pass beside other boxes."""
    used = {name for importer, targets in edges.items() for name in (importer, *targets)}
    rows = [[name for name in layer if name in used] for layer in layers]
    rows = [row for row in rows if row]
    width = max(max(map(_row_width, rows)) + 220, 560)
    places = {name: place for number, row in enumerate(rows) for name, place in _row_places(row, number, width).items()}
    arrows = [_arrow(places[a], places[b]) for a, targets in sorted(edges.items()) for b in sorted(targets)]
    boxes = [_box(name, *place) for name, place in places.items()]
    height = ROW * (len(rows) - 1) + BOX + 4
    marker = (
        '<marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z"/></marker>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}" '
        f'role="img"><title>{escape(title)}</title><style>{STYLE}</style><defs>{marker}</defs>'
        f'<rect width="100%" height="100%" style="fill:#fff;stroke:none"/>{"".join(arrows)}{"".join(boxes)}</svg>\n'
    )


def _box_width(name: str) -> float:
    return len(name) * LETTER + 2 * PAD


def _row_width(row: Sequence[str]) -> float:
    return sum(map(_box_width, row)) + GAP * (len(row) - 1)


def _row_places(row: Sequence[str], number: int, width: float) -> dict[str, tuple[float, float]]:
    """The middle of every box of a row; rows lean left, right and centre in turn."""
    left = (width - _row_width(row)) * (0.5, 0.12, 0.88)[number % 3]
    places = {}
    for name in row:
        places[name] = (left + _box_width(name) / 2, number * ROW + BOX / 2 + 2)
        left += _box_width(name) + GAP
    return places


def _box(name: str, x: float, y: float) -> str:
    wide = _box_width(name)
    rect = f'<rect x="{x - wide / 2:.1f}" y="{y - BOX / 2:.1f}" width="{wide:.1f}" height="{BOX}" rx="5"/>'
    return f'{rect}<text x="{x:.1f}" y="{y + 4:.1f}">{escape(name)}</text>'


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x, y), (u, v) = start, end
    top, bottom = y + BOX / 2, v - BOX / 2
    bend = (bottom - top) / 2
    return (
        f'<path d="M{x:.1f} {top:.1f}C{x:.1f} {top + bend:.1f} {u:.1f} {bottom - bend:.1f} {u:.1f} {bottom:.1f}" '
        'marker-end="url(#a)"/>'
    )
