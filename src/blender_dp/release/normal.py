"""The normal distribution and Student's, for tests and intervals of estimates."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ERFC = np.vectorize(math.erfc, otypes=[np.float64])
_TAIL = 0.02425  # below this probability, and above its complement, the quantile is computed from its logarithm
_CENTRE_ABOVE = (-3.969683028665376e01, 2.209460984245205e02, -2.759285104469687e02,
                 1.383577518672690e02, -3.066479806614716e01, 2.506628277459239e00)  # fmt: skip
_CENTRE_BELOW = (-5.447609879822406e01, 1.615858368580409e02, -1.556989798598866e02,
                 6.680131188771972e01, -1.328068155288572e01, 1.0)  # fmt: skip
_TAIL_ABOVE = (7.784894002430293e-03, 3.223964580411365e-01, 2.400758277161838e00,
               2.549732539343734e00, -4.374664141464968e00, -2.938163982698783e00)  # fmt: skip
_TAIL_BELOW = (7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e00, 3.754408661907416e00, 1.0)
_MANY = 30  # degrees of freedom from which the series for Student's distribution is exact enough
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


def normal_quantile(probabilities: Floats) -> Floats:
    """The numbers below which a standard normal one lies with these probabilities: fast, with a relative error below 10⁻⁸.

    Citation: Acklam's rational approximation (2003), for the centre and for both tails.
    """
    p = np.asarray(probabilities, float)
    tail = np.minimum(p, 1 - p)
    centre, root = p - 0.5, np.sqrt(-2 * np.log(np.maximum(tail, np.finfo(float).tiny)))
    inner = centre * np.polyval(_CENTRE_ABOVE, centre**2) / np.polyval(_CENTRE_BELOW, centre**2)
    outer = np.copysign(np.polyval(_TAIL_ABOVE, root) / np.polyval(_TAIL_BELOW, root), centre)
    return np.where(tail > _TAIL, inner, outer)


def two_sided(score: float) -> float:
    """The probability that a standard normal number is further from 0 than this score."""
    return math.erfc(abs(score) / math.sqrt(2.0))


@cache
def student_quantile(probability: float, freedom: int) -> float:
    """The distance from 0 within which Student's distribution has this probability: exact for few degrees of freedom.

    From 30 degrees of freedom on, the series of Fisher and Cornish is exact to five digits.
    """
    if freedom < _MANY:
        return math.sqrt(freedom) * math.tan(_student_angle(probability, freedom))
    z, v = float(normal_quantile(np.array([(1 + probability) / 2]))[0]), float(freedom)
    terms = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + terms[0] / v + terms[1] / v**2 + terms[2] / v**3


def _student_angle(probability: float, freedom: int) -> float:
    """The angle whose tangent times √freedom is the quantile: 1 and 2 degrees have a formula, the others are bisected."""
    if freedom <= 2:
        return math.pi / 2 * probability if freedom == 1 else math.asin(probability)
    low, high = 0.0, math.pi / 2
    for _ in range(53):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_cover(middle, freedom) < probability else (low, middle)
    return low


def _student_cover(angle: float, freedom: int) -> float:
    """The probability that a Student number is below the tangent of this angle times √freedom, in both directions.

    Citation: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    odd, cosine = freedom % 2, math.cos(angle)
    term = cosine if odd else 1.0
    total = term
    for step in range(2 + odd, freedom - 1, 2):
        term *= (step - 1) / step * cosine**2
        total += term
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def normal_nodes(mean: float, variance: float) -> tuple[Floats, Floats]:
    """Points and weights for the mean of a function of a normal number (Gauss and Hermite)."""
    return mean + variance**0.5 * _NODES, _WEIGHTS / _WEIGHTS.sum()
