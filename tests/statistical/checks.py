"""Statistical checks with a stated false-alarm rate.

Every check here fails a correct program with probability at most `ALARM`. Streams are seeded, so a test that passes once
always passes; the rate is the probability that a correct program failed when the test was written. The sample sizes in the
tests are chosen so that an error of 5 % in the formula under test would be caught.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from scipy import stats

ALARM = 1e-6
Z = NormalDist().inv_cdf(1 - ALARM / 2)


def assert_share(successes: int, trials: int, probability: float) -> None:
    """The successes are binomial with this probability (exact test)."""
    assert stats.binomtest(int(successes), int(trials), float(probability)).pvalue > ALARM, (successes / trials, probability)


def assert_counts(observed: np.ndarray, probabilities: np.ndarray, least: float = 10.0) -> None:
    """The counts are multinomial with these probabilities (χ²); rare categories are pooled."""
    observed, probabilities = np.asarray(observed, float), np.asarray(probabilities, float)
    expected = probabilities * observed.sum()
    rare = expected < least
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] < least:  # even pooled, they are too few for χ²
        assert_share(int(observed[-1]), int(observed.sum()), expected[-1] / expected.sum())
        observed, expected = observed[:-1], expected[:-1] * observed[:-1].sum() / expected[:-1].sum()
    if observed.size > 1:
        assert stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > ALARM


def assert_mean(values: np.ndarray, expected: float) -> None:
    """The mean of many independent values is this (normal test)."""
    error = np.std(values, ddof=1) / np.sqrt(values.size)
    assert abs(np.mean(values) - expected) <= Z * error, (np.mean(values), expected, error)


def assert_ratio(measured: float, expected: float, *, tolerance: float, noise: float, alarm: float = ALARM) -> None:
    """Two numbers agree within a tolerance; `noise` is the relative standard error of the measurement.

    The measurement must be precise enough for the tolerance to be meaningful: the tolerance must contain as many standard
    errors as the false-alarm rate requires.
    """
    resolution = NormalDist().inv_cdf(1 - alarm / 2) * noise
    assert resolution < tolerance, f"the measurement resolves only {resolution:.3f}; {tolerance} is needed"
    assert abs(measured / expected - 1) < tolerance, (measured, expected)
