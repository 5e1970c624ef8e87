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


def two_sided(score: float) -> float:
    """The probability that a standard normal number is further from 0 than this score."""
    return math.erfc(abs(score) / math.sqrt(2.0))


def normal_nodes(mean: float, variance: float) -> tuple[Floats, Floats]:
    """Points and weights for the mean of a function of a normal number (Gauss and Hermite)."""
    return mean + variance**0.5 * _NODES, _WEIGHTS / _WEIGHTS.sum()
