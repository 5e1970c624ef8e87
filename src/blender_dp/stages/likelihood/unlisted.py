"""What to expect of ⟨q, ⋆⟩, the unlisted URLs of a listed query, before looking at the query itself.

Discovery cannot see them, so they are poorly known at small ε. But each of them is below the threshold, and their number
depends on the query's popularity: a query with share p and a threshold of share c has an unlisted share of about
a·p^γ·c^(1-γ), from γ = 0 (a few URLs below the threshold, whatever the query) to γ = 1 (a fixed part of the query). The
factor a, γ, and the scatter of the queries around this mean are learnt from all queries of the list together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from blender_dp.stages.layout import Floats

_FACTORS = np.geomspace(0.02, 6, 25)
_SCATTERS = np.array([0.4, 0.6, 0.85, 1.2, 1.7, 2.4, 3.4, 4.8])  # standard deviations, relative to the mean
_EXPONENTS = (0.0, 0.25, 0.5, 1.0)
# The prior, as log-normal distributions: an unlisted share of about a third of the smallest listed record's. Most queries
# have no unlisted URL, and some have one or a few: as for Poisson numbers, the smaller the mean, the larger the scatter is.
_FACTOR, _FACTOR_SPREAD = 0.35, 0.7
_SCATTER, _SCATTER_SPREAD = 1.5, 0.5
_EXPONENT, _EXPONENT_SPREAD = 0.25, 0.3
_QUERIES = 1000  # this many are enough to learn from
_AT_ONCE = 64  # the likelihoods of this many queries, for all factors and scatters, fit into the processor's cache


@dataclass(frozen=True)
class Expectation:
    """Mean and variance of every query's unlisted share."""

    mean: Floats
    variance: Floats
    factor: float
    exponent: float
    scatter: float


def expect_unlisted(shares: Floats, variance: Floats, listed: Floats, scale: float) -> Expectation:
    """Learn from unshrunk estimates and their variances, the queries' listed shares, and the threshold's share."""
    every = max(1, shares.size // _QUERIES)
    learnt = max(
        (_likeliest(shares[::every], variance[::every], _size(listed[::every], scale, e), e) for e in _EXPONENTS),
        key=lambda candidate: candidate[0],
    )
    _, factor, scatter, exponent = learnt
    mean = factor * _size(listed, scale, exponent)
    return Expectation(mean, (scatter * mean) ** 2, factor, exponent, scatter)


def _size(listed: Floats, scale: float, exponent: float) -> Floats:
    size: Floats = np.maximum(listed, scale) ** exponent * scale ** (1 - exponent)
    return size


def _likeliest(shares: Floats, variance: Floats, size: Floats, exponent: float) -> tuple[float, float, float, float]:
    """The likeliest factor and scatter for one exponent, and their log-likelihood."""
    likelihood = _prior().copy()
    for start in range(0, shares.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        likelihood += _log_likelihood(shares[part], variance[part], size[part])
    best = np.unravel_index(int(likelihood.argmax()), likelihood.shape)
    value = float(likelihood[best]) - 0.5 * ((exponent - _EXPONENT) / _EXPONENT_SPREAD) ** 2
    return value, float(_FACTORS[best[0]]), float(_SCATTERS[best[1]]), exponent


@cache
def _prior() -> Floats:
    """The logarithm of the prior of every factor (by row) and scatter (by column)."""
    usual = _SCATTER * np.sqrt(_FACTOR / _FACTORS)  # at each factor
    of_factors = np.log(_FACTORS / _FACTOR) / _FACTOR_SPREAD
    of_scatters = np.log(_SCATTERS / usual[:, None]) / _SCATTER_SPREAD
    prior: Floats = -0.5 * (of_factors[:, None] ** 2 + of_scatters**2)
    return prior


def _log_likelihood(shares: Floats, variance: Floats, size: Floats) -> Floats:
    """The log-likelihood of some queries' estimates, for every factor (by row) and scatter (by column)."""
    mean = _FACTORS[:, None] * size
    spread = _SCATTERS[:, None] ** 2 * (mean**2)[:, None] + variance
    logs = np.log(spread)
    logs += np.divide(((shares - mean) ** 2)[:, None], spread, out=spread)
    likelihood: Floats = -0.5 * logs.sum(axis=-1)
    return likelihood
