"""The space that text needs on a chart.

Pages ship the font of their charts, but readers may replace it, and pictures in files are shown in the reader's own font. So
the width of text is bounded by the widest sans-serif fonts in use (Verdana, DejaVu Sans), which are wider than the shipped
one: a label that fits by this measure fits everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, takewhile

FONT_SIZE = 12
_NARROW = frozenset(" !'(),-./:;I[\\]`fijlrt|")
_WIDEST = frozenset("%@MWm")
_EM_NARROW, _EM_USUAL, _EM_WIDE, _EM_WIDEST = 0.42, 0.65, 0.84, 1.05


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """An upper bound of the width of a line of text, in pixels."""
    return size * sum(_em(character) for character in text)


def _em(character: str) -> float:
    if character in _NARROW:
        return _EM_NARROW
    if character in _WIDEST or not character.isascii():
        return _EM_WIDEST
    return _EM_USUAL if (character.islower() and character != "w") or character in '0123456789_*$"?{}' else _EM_WIDE


def shortened(text: str, width: float, size: float = FONT_SIZE) -> str:
    """The text, or as much of its beginning as fits into this many pixels, with an ellipsis."""
    if text_width(text, size) <= width:
        return text
    reached = accumulate((text_width(character, size) for character in text), initial=text_width("…", size))
    end = sum(1 for _ in takewhile(lambda place: place <= width, reached)) - 1
    return f"{text[: max(end, 0)].rstrip()}…"


def widest(texts: Iterable[str]) -> float:
    """The width of the widest text."""
    return max(map(text_width, texts), default=0.0)
