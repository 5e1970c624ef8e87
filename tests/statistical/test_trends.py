"""The intervals of smoothed shares and of their changes contain the true ones as often as they should."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from blender_dp.release.smoothing import Smoothed, smooth
from tests.statistical.checks import ALARM
from tests.unit.release.test_smoothing import noisy, track

ERROR = 0.001


def smoothed(shares: list[list[float]], seed: int) -> list[Smoothed]:
    """The smoothed series of queries whose estimates have independent normal errors."""
    return smooth([track(noisy(one, ERROR, 1000 * seed + number), ERROR, cells=100) for number, one in enumerate(shares)])[0]


@pytest.mark.slow
def test_changes_are_covered():
    """Of 40 queries, half never change, a quarter jump and a quarter rise.

    Intervals that cover 95 % fail with a probability of 1e-6: they would have to miss more than 7.6 % of 1,600 changes. A
    coverage of 90 % is noticed nearly always.
    """
    shares = [[0.02] * 6] * 20 + [[0.01] * 3 + [0.02] * 3] * 10 + [np.linspace(0.02, 0.03, 6).tolist()] * 10
    covered = 0
    for seed in range(40):
        for one, true in zip(smoothed(shares, seed), shares, strict=True):
            expected, low, high = one.change
            assert expected == pytest.approx(one.shares[-1] - one.shares[0])
            covered += low <= true[-1] - true[0] <= high
    assert stats.binom.cdf(covered, 1600, 0.95) > ALARM


@pytest.mark.slow
def test_events_of_one_round_are_covered():
    """Events of eight standard errors among queries that never change: their shares hardly have more error than published.

    Of 800 intervals, a coverage of 93 % fails with a probability of 1e-6, and one of 87 % with a probability of 90 %. The
    errors are a sharper test of the formulas.
    """
    shares = [[0.02] * 3 + [0.028] + [0.02] * 3] * 10 + [[0.02] * 7] * 20
    events = [one for seed in range(80) for one in smoothed(shares, seed)[:10]]
    covered = sum(one.low[3] <= 0.028 <= one.high[3] for one in events)
    assert stats.binom.cdf(covered, len(events), 0.93) > ALARM
    errors = np.array([one.shares[3] - 0.028 for one in events])
    assert np.sqrt(np.mean(errors**2)) < 1.13 * ERROR  # the published shares have 1, and 5 standard errors are 0.13
