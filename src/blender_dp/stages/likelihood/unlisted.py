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
_EXPONENTS = np.array([0.0, 0.25, 0.5, 1.0])
# The prior, as log-normal distributions: an unlisted share of about a third of the smallest listed record's. Most queries
# have no unlisted URL, and some have one or a few: as for Poisson numbers, the smaller the mean, the larger the scatter is.
_FACTOR, _FACTOR_SPREAD = 0.35, 0.7
_SCATTER, _SCATTER_SPREAD = 1.5, 0.5
_EXPONENT, _EXPONENT_SPREAD = 0.25, 0.3
_QUERIES = 1000  # this many are enough to learn from
_AT_ONCE = 64  # the variances of this many queries have a product that a float can hold
# For every factor and scatter, in one row: what the squared size, and the measured variance, are multiplied by.
_WEIGHTS = np.stack([np.outer(_FACTORS, _SCATTERS).ravel() ** 2, np.ones(_FACTORS.size * _SCATTERS.size)])
_POWERS = np.repeat(_FACTORS, _SCATTERS.size) ** np.arange(3)[:, None]


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
    sizes = np.stack([_size(listed[::every], scale, exponent) for exponent in _EXPONENTS])
    likelihood = _prior() + _log_likelihood(shares[::every], variance[::every], sizes)
    best = np.unravel_index(int(likelihood.argmax()), likelihood.shape)
    exponent, factor, scatter = (float(grid[at]) for grid, at in zip((_EXPONENTS, _FACTORS, _SCATTERS), best, strict=True))
    mean = factor * _size(listed, scale, exponent)
    return Expectation(mean, (scatter * mean) ** 2, factor, exponent, scatter)


def _size(listed: Floats, scale: float, exponent: float) -> Floats:
    size: Floats = np.maximum(listed, scale) ** exponent * scale ** (1 - exponent)
    return size


@cache
def _prior() -> Floats:
    """The logarithm of the prior of every exponent, factor and scatter: an axis for each."""
    usual = _SCATTER * np.sqrt(_FACTOR / _FACTORS)  # at each factor
    of_exponents = (_EXPONENTS - _EXPONENT) / _EXPONENT_SPREAD
    of_factors = np.log(_FACTORS / _FACTOR) / _FACTOR_SPREAD
    of_scatters = np.log(_SCATTERS / usual[:, None]) / _SCATTER_SPREAD
    prior: Floats = -0.5 * (of_exponents[:, None, None] ** 2 + of_factors[:, None] ** 2 + of_scatters**2)
    return prior


def _log_likelihood(shares: Floats, variance: Floats, sizes: Floats) -> Floats:
    """The log-likelihood of the estimates, for every exponent, factor and scatter; `sizes` has a row for each exponent.

    A query with the mean m = factor · size has the variance v = (scatter · m)² + `variance`, and contributes
    log v + (share - m)² / v. Relative to size² + `variance`, v is neither tiny nor huge, so the sum of the logarithms is the
    logarithm of a product; and expanded into powers of the factor, the squares are a product of matrices.
    """
    units = sizes**2 + variance
    of_variance = np.stack([sizes**2 / units, variance / units], axis=-1)
    of_squares = np.stack([shares**2 / units, -2 * shares * sizes / units, sizes**2 / units], axis=1)
    logs, squares = np.zeros((len(sizes), _WEIGHTS.shape[1])), np.zeros((len(sizes), *_POWERS.shape))
    for row in range(len(sizes)):
        for start in range(0, shares.size, _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            relative = of_variance[row, some] @ _WEIGHTS
            logs[row] += np.log(np.multiply.reduce(relative, axis=0))
            squares[row] += of_squares[row, :, some] @ np.reciprocal(relative, out=relative)
    total: Floats = logs + np.log(units).sum(axis=1, keepdims=True) + (squares * _POWERS).sum(axis=1)
    return -0.5 * total.reshape(len(sizes), _FACTORS.size, _SCATTERS.size)
