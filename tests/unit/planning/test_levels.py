from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from blender_dp.planning.levels import level, reached
from tests.unit.planning.shapes import zipf


def test_no_query_that_many_users_have_is_overlooked():
    """The probability by which a query is drawn is never below that of its count."""
    for least in (1, 2, 3, 5, 10, 30, 64, 65, 80, 300, 2_000):
        means = np.geomspace(least / 100, 2 * least, 400)
        assert (reached(least, means) >= stats.poisson.sf(least - 1, means) - 1e-7).all()
        assert reached(least, np.array([1e6, 1e9])).tolist() == [1, 1]


def test_as_many_queries_reach_a_level_as_it_says():
    shares = zipf(50_000, 0.3)
    found = level(shares, 2_000_000, 100)
    reaching = np.random.default_rng(1).poisson(2_000_000 * shares, (40, shares.size)) >= found
    assert 100 <= reaching.sum(axis=1).mean() <= 130  # never fewer: nothing that matters is left out
    assert level(shares, 2_000_000, 60_000) == pytest.approx(0, abs=1e-6)
