"""Small charts of text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from blender_dp.cli.output import can_print

_BLOCKS, _ASCII = "▁▂▃▄▅▆▇█", "_.-:=+*#"
_WIDTH = 40  # characters at most


def sparkline(values: Sequence[float]) -> str:
    """One block per value, from 0 to the largest one, so that noise does not look like a change.

    A block stands for the mean of several values if there are more than 40. Where the console's encoding has no blocks,
    other characters are used.
    """
    heights = _binned(values)
    blocks = _BLOCKS if can_print(_BLOCKS) else _ASCII
    largest = max(heights, default=0.0)
    if largest <= 0:
        return blocks[0] * len(heights)
    return "".join(blocks[round(max(height, 0.0) / largest * (len(blocks) - 1))] for height in heights)


def _binned(values: Sequence[float]) -> list[float]:
    """The values, or the means of 40 nearly equal parts of them."""
    count = min(len(values), _WIDTH)
    ends = [number * len(values) // count for number in range(count + 1)] if count else []
    return [sum(values[start:end]) / (end - start) for start, end in pairwise(ends)]
