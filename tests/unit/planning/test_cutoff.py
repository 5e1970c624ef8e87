from __future__ import annotations

import numpy as np
import pytest

from blender_dp.planning.cutoff import on_final_list


def test_without_a_surplus_nothing_is_cut_off():
    listed = np.array([0.9, 0.5, 0.1])
    assert on_final_list(listed, np.array([0.3, 0.2, 0.1]), 1000, 2.0, 2) is listed


def test_as_many_queries_are_expected_as_fit():
    listed, shares = np.full(300, 0.9), np.geomspace(0.1, 1e-4, 300)
    remaining = on_final_list(listed, shares, 10_000, 2.0, 50)
    assert remaining.sum() == pytest.approx(50, rel=1e-6)
    assert remaining[0] == pytest.approx(0.9)
    assert (np.diff(remaining) <= 1e-12).all()
    assert remaining[-1] < 1e-6


def test_it_agrees_with_simulated_counts():
    rng = np.random.default_rng(7)
    shares = np.geomspace(0.02, 0.001, 100)
    expected = 5_000 * shares
    noisy = rng.poisson(expected, (4_000, 100)) + rng.normal(0, 2.0, (4_000, 100))
    top = np.argsort(-noisy, axis=1)[:, :40]
    observed = np.bincount(top.ravel(), minlength=100) / 4_000
    assert on_final_list(np.ones(100), shares, 5_000, 4.0, 40) == pytest.approx(observed, abs=0.06)
