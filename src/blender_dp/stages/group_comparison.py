"""How far opt-in users and clients differ, in standard errors. This is post-processing and costs no privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from blender_dp.stages.layout import Estimate, Floats

_OUTLIER = 4.0  # standard errors: by chance, one estimate in 16,000 is further off
_FALSE_OUTLIERS = 0.01  # expected by chance on a list that is so long that 4 standard errors would allow more
_BEYOND_CHANCE = 1e-4  # identical groups differ this much as a whole in one collection of 10,000


@dataclass(frozen=True)
class Disagreement:
    """The differences in standard errors (NaN where one group has no estimate), and their sum of squares."""

    scores: Floats
    chi_square: float
    degrees: int

    @property
    def p_value(self) -> float:
        """The probability of this much difference if the groups had the same shares: the tail of the χ² distribution."""
        return _chi_square_tail(self.chi_square / 2, self.degrees)


def disagreement(opt_in: Estimate, client: Estimate) -> Disagreement:
    """Compare two groups' estimates of the same shares; ⋆, the last one, is left out of the sum."""
    scores = _scores(opt_in, client)
    known = scores[:-1][np.isfinite(scores[:-1])]
    return Disagreement(scores, float((known**2).sum()), known.size)


def spread(opt_in: Estimate, client: Estimate) -> float:
    """The relative variance of the difference between the groups' queries; 0 as long as chance explains it.

    Only queries are compared, because the estimates of one query's URLs depend on each other.
    """
    if disagreement(opt_in, client).p_value >= _BEYOND_CHANCE:
        return 0.0
    difference, both = (opt_in.share - client.share)[:-1], (opt_in.variance + client.variance)[:-1]
    known = np.isfinite(difference)
    squares = max(float((opt_in.share[:-1][known] ** 2).sum()), 1e-300)
    return max(0.0, float((difference**2 - both)[known].sum()) / squares)


def trust(opt_in: Estimate, client: Estimate, relative_spread: float, client_part: Floats | float) -> Floats:
    """The weight of the opt-in users' evidence about each share, between 0 and 1.

    It is 1 as long as the groups differ by no more than chance allows. If they differ as a whole, the relative spread of
    their difference is added to the opt-in users' variance everywhere; where one share differs by more than chance
    explains, the excess is added there as well. The opt-in users' share differs from that of all users by the clients' part
    of the difference, so the fewer clients there are, the less it matters that they differ.
    """
    difference = np.nan_to_num(opt_in.share - client.share)
    variance = np.nan_to_num(opt_in.variance)
    extra = relative_spread * np.nan_to_num(opt_in.share) ** 2
    both = variance + np.nan_to_num(client.variance) + extra
    extra += np.maximum(difference**2 - _outlier(difference.size) ** 2 * both, 0.0)
    extra = extra * client_part**2
    weight: Floats = np.where(extra > 0, variance / np.maximum(variance + extra, 1e-300), 1.0)
    return weight


def _outlier(estimates: int) -> float:
    """The number of standard errors beyond which chance does not explain the largest difference of so many estimates."""
    return max(_OUTLIER, -NormalDist().inv_cdf(_FALSE_OUTLIERS / (2 * estimates)))


def _scores(opt_in: Estimate, client: Estimate) -> Floats:
    spread = np.sqrt(opt_in.variance + client.variance)
    scores: Floats = np.full(spread.shape, np.nan)
    np.divide(opt_in.share - client.share, spread, out=scores, where=spread > 0)
    return scores


def _chi_square_tail(half: float, degrees: int) -> float:
    """Q(degrees / 2, half), which is a finite sum for an integer number of degrees of freedom."""
    if not degrees or half <= 0:
        return 1.0
    odd = degrees % 2
    terms = [i + odd / 2 for i in range(degrees // 2)]
    tail = math.erfc(math.sqrt(half)) if odd else 0.0
    return min(1.0, tail + sum(math.exp(term * math.log(half) - half - math.lgamma(term + 1)) for term in terms))
