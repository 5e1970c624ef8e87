"""Small charts of text."""

from __future__ import annotations

from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float]) -> str:
    """One block per value, from 0 to the largest one, so that noise does not look like a change."""
    largest = max(values, default=0.0)
    if largest <= 0:
        return _BLOCKS[0] * len(values)
    return "".join(_BLOCKS[round(max(value, 0.0) / largest * (len(_BLOCKS) - 1))] for value in values)
