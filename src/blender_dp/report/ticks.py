"""Round values for the ticks of an axis, so few that their labels do not collide."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from blender_dp.report.text import FONT_SIZE, text_width, widest

PERCENT = "~%"
"""The Vega format of the labels that `percent` measures."""
_GAP = 14  # pixels between two labels


def percent(share: float) -> str:
    """The label of a share."""
    return f"{100 * share:g}%"


def linear_ticks(low: float, high: float, pixels: float, *, vertical: bool = False) -> list[float]:
    """Shares from `low` to `high`, for a linear axis of this length."""
    smallest = math.floor(math.log10(high - low)) - 1
    for step in (factor * 10.0**power for power in range(smallest, smallest + 2) for factor in (1, 2, 5)):
        ticks = [round(number * step, 12) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
        if pixels * step / (high - low) >= (FONT_SIZE if vertical else widest(map(percent, ticks))) + _GAP:
            return ticks
    return [round(low, 12)]


def log_ticks(low: float, high: float, pixels: float) -> list[float]:
    """Round numbers from `low` to `high`, as many as fit, for a vertical logarithmic axis of this length."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    choices = [
        [tick for tick in (round(factor * 10.0**power, 12) for power in powers for factor in factors) if low <= tick <= high]
        for factors in ((1, 1.5, 2, 3, 4, 6, 8), (1, 2, 5), (1, 3), (1,))
    ]
    room = pixels / max(math.log(high / low), 1e-9)  # pixels for a factor of e
    fitting = (ticks for ticks in choices if _smallest_factor(ticks) * room >= FONT_SIZE + _GAP / 2)
    return next(fitting, choices[-1])


def _smallest_factor(ticks: Sequence[float]) -> float:
    """The logarithm of the smallest factor between two neighbours."""
    return min((math.log(after / before) for before, after in itertools.pairwise(ticks)), default=math.inf)


def label_ticks(labels: Sequence[str], pixels: float) -> list[int]:
    """The positions of some of the labels, evenly spaced on an axis of this length: the last, and as many others as fit."""
    room = pixels / max(len(labels) - 1, 1)
    every = next((n for n in range(1, len(labels)) if n * room >= widest(labels) + _GAP), len(labels))
    return list(range(len(labels) - 1, -1, -every))[::-1]


def root_ticks(high: float, pixels: float) -> list[float]:
    """Shares on a square-root axis of this length from 0 to `high`."""
    largest = math.floor(math.log10(max(high, 1e-9)))
    numbers = (round(factor * 10.0**power, 12) for power in range(largest, largest - 4, -1) for factor in (5, 2, 1))
    ticks: list[float] = []
    free = math.inf  # where the label to the right begins
    for tick in numbers:
        place, half = pixels * math.sqrt(tick / high), text_width(percent(tick)) / 2
        if tick <= high and place + half + _GAP <= free and place - half - _GAP >= text_width("0%") / 2:
            ticks.append(tick)
            free = place - half
    return [0.0, *reversed(ticks)]
