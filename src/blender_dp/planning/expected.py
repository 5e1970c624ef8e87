"""Expected values with the range that contains 95 % of all collections, estimated from a few of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_NORMAL = 1.96  # the quantile of a normal distribution for 95 %
_EXACT = (12.71, 4.30)  # Student's quantiles for one and two degrees of freedom, where the series is too small


@dataclass(frozen=True)
class Expected:
    """An expected value, and the range that contains 95 % of all collections."""

    mean: float
    low: float
    high: float
    error: float = 0.0
    """The standard error of the mean; 0 if it is exact."""

    @classmethod
    def of(cls, values: Sequence[float], least: float = 0.0, most: float = math.inf) -> Expected:
        """Estimate it from several collections; no value can be below `least` or above `most`."""
        runs = len(values)
        spread = float(np.std(values, ddof=1)) if runs > 1 else 0.0
        return cls.around(float(np.mean(values)), runs, spread, runs - 1, least, most)

    @classmethod
    def around(
        cls, mean: float, runs: int, spread: float, freedom: int, least: float = 0.0, most: float = math.inf
    ) -> Expected:
        """Use the mean of several collections, and a spread between collections that has these degrees of freedom."""
        reach = _student(freedom) * spread * math.sqrt(1 + 1 / runs)
        return cls(mean, max(mean - reach, least), min(mean + reach, most), spread / math.sqrt(runs))

    def times(self, factor: float) -> Expected:
        """The same quantity in another unit."""
        return Expected(factor * self.mean, factor * self.low, factor * self.high, factor * self.error)


def _student(freedom: int) -> float:
    """The quantile of Student's distribution for 95 %: a spread that a few runs estimate may be too small.

    The series of Fisher and Cornish, within 1 % from 3 degrees of freedom on.
    """
    if freedom <= len(_EXACT):
        return _EXACT[max(freedom, 1) - 1]
    z, v = _NORMAL, float(freedom)
    terms = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + terms[0] / v + terms[1] / v**2 + terms[2] / v**3
