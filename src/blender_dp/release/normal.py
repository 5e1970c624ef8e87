"""The normal distribution, for tests and intervals of estimates."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ERFC = np.vectorize(math.erfc, otypes=[np.float64])
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)


def normal_cdf(scores: Floats) -> Floats:
    """The probability that a standard normal number is below each score; accurate in both tails."""
    values: Floats = 0.5 * _ERFC(-np.asarray(scores) / math.sqrt(2.0))
    return values


def normal_tail(values: Floats) -> Floats:
    """The probability that a standard normal number exceeds each value: fast, and within 10⁻⁷.

    Citation: Abramowitz and Stegun, 26.2.17.
    """
    t = 1 / (1 + 0.2316419 * np.abs(values))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-(values**2) / 2) / math.sqrt(2 * math.pi) * series
    result: Floats = np.where(values >= 0, tail, 1 - tail)
    return result


def two_sided(score: float) -> float:
    """The probability that a standard normal number is further from 0 than this score."""
    return math.erfc(abs(score) / math.sqrt(2.0))


def normal_nodes(mean: float, variance: float) -> tuple[Floats, Floats]:
    """Points and weights for the mean of a function of a normal number (Gauss and Hermite)."""
    return mean + variance**0.5 * _NODES, _WEIGHTS / _WEIGHTS.sum()
