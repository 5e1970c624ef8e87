"""Find where a shortfall vanishes, with as few evaluations as possible: each of them simulates collections."""

from __future__ import annotations

import math
from collections.abc import Callable

_STEP = math.log(8)  # of the search for a value that is enough, from the lowest one upwards
_FIRST = math.log(2), math.log(64)  # the first step, if it is known how much is missing
_POWER = 2  # errors fall at least about as fast as the square root of the number of users
_ASIDE = 0.4  # of the final interval: how far from the expected crossing to look, on the side whose end is older
_LEAST = 0.02  # the part of an interval that every step cuts off, at least


def crossing(
    shortfall: Callable[[float], float], low: float, high: float, precision: float, most: float = math.inf
) -> float:
    """The smallest value without a shortfall, to within a factor of `precision`; `high` if there is none.

    A shortfall is positive where a value is not enough, and falls with the value; if it may rise again later, no step of the
    search should be larger than a factor of `most`. Errors are nearly powers of what is varied, so on logarithmic scales the
    crossing is expected on the straight line through two values. The search goes up until a value is enough: at first as far
    as errors usually require, then to where the line through the last two values ends. Within an interval, the next value is
    chosen a little beyond the line, in turn on both sides, so that soon both ends are close to the crossing. If the same end
    moves twice, the line was misleading: the shortfall at the other end then counts half (the Illinois method).
    """
    narrow, last = math.log(precision), math.log(high)

    def evaluated(logarithm: float) -> tuple[float, float]:
        return logarithm, shortfall(high if logarithm == last else math.exp(logarithm))

    left = right = evaluated(math.log(low))
    margin = narrow
    while right[1] > 0 and right[0] < last:
        left, right = right, evaluated(min(right[0] + min(_step(left, right, margin), math.log(most)), last))
        margin *= 2
    if right[1] > 0 or right == left:
        return high if right[0] == last else low
    moved = 0
    while (width := right[0] - left[0]) > narrow:
        rise = left[1] - right[1]
        if not math.isfinite(rise) or width <= 2 * narrow:  # then either half is narrow enough
            part = 0.5
        else:
            part = left[1] / rise + (_ASIDE if moved > 0 else -_ASIDE) * narrow / width
        middle = evaluated(left[0] + width * min(max(part, _LEAST), 1 - _LEAST))
        if middle[1] <= 0:
            left, right, moved = (_halved(left) if moved < 0 else left), middle, -1
        else:
            left, right, moved = middle, (_halved(right) if moved > 0 else right), 1
    return high if right[0] == last else math.exp(right[0])


def _step(before: tuple[float, float], now: tuple[float, float], margin: float) -> float:
    """How far to go up: to where the crossing is expected, and a margin beyond it."""
    if not math.isfinite(now[1]):
        return _STEP
    if before == now:
        return min(max(_POWER * now[1], _FIRST[0]), _FIRST[1])
    fall = before[1] - now[1]
    expected = now[1] / fall * (now[0] - before[0]) if fall > 0 else math.inf
    return min(_STEP, expected + margin)


def _halved(end: tuple[float, float]) -> tuple[float, float]:
    return end[0], end[1] / 2
