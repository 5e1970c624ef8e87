from __future__ import annotations

import numpy as np
import pytest

from blender_dp.planning.cutoff import on_final_list

RUNS = 10_000
SHAPES = {
    "steep": np.geomspace(0.1, 1e-4, 300),
    "a power law": np.arange(1.0, 1001) ** -1 / 8,
    "nearly flat": np.arange(1.0, 201) ** -0.3 / 80,
    "flat": np.full(100, 0.01),
}


def test_without_a_surplus_nothing_is_cut_off():
    listed = np.array([0.9, 0.5, 0.1])
    assert on_final_list(listed, np.array([0.3, 0.2, 0.1]), 1000, 2.0, 2) is listed


def test_as_many_queries_are_expected_as_fit():
    listed, shares = np.full(300, 0.9), np.geomspace(0.1, 1e-4, 300)
    remaining = on_final_list(listed, shares, 10_000, 2.0, 50)
    assert remaining.sum() == pytest.approx(50, rel=1e-3)
    assert remaining[0] == pytest.approx(0.9)
    assert (np.diff(remaining) <= 1e-12).all()
    assert remaining[-1] < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 3, 40])
@pytest.mark.parametrize("likely", [0.5, 1.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_agrees_with_simulated_counts(shape: str, likely: float, most: int):
    """The seed is fixed; another one would shift a frequency by more than 0.03 with a probability of 3e-8 (Hoeffding)."""
    rng = np.random.default_rng(7)
    shares = SHAPES[shape]
    counts = rng.poisson(5_000 * shares, (RUNS, shares.size)) + rng.normal(0, 2.0, (RUNS, shares.size))
    is_listed = rng.random(counts.shape) < likely
    top = np.argpartition(np.where(is_listed, -counts, np.inf), most - 1)[:, :most]
    on_list = np.bincount(top[np.take_along_axis(is_listed, top, axis=1)], minlength=shares.size) / RUNS
    assert on_final_list(np.full(shares.size, likely), shares, 5_000, 4.0, most) == pytest.approx(on_list, abs=0.04)
