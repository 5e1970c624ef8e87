"""Expected values with the range that contains 95 % of all collections, estimated from a few of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blender_dp.release.normal import student_quantile

_RANGE = 0.95


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
        # Student's quantile, because a spread that a few runs estimate may be too small.
        reach = student_quantile(_RANGE, max(freedom, 1)) * spread * math.sqrt(1 + 1 / runs)
        return cls(mean, max(mean - reach, least), min(mean + reach, most), spread / math.sqrt(runs))

    def times(self, factor: float) -> Expected:
        """The same quantity in another unit."""
        return Expected(factor * self.mean, factor * self.low, factor * self.high, factor * self.error)
