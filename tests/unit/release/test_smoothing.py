from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_dp.release.smoothing import _JUMP, STEPS, _forward, _learn, _summary, _transitions, smooth
from blender_dp.release.tracks import Track


def track(estimates: list[float | None], error: float, absent_above: float = 0.01, cells: int = 120) -> Track:
    """A share between 0 and 0.05 with normal estimates, without bias; a round without estimate excludes large shares."""
    logs = np.linspace(np.log(error), np.log(0.05 + error), cells)
    shares = np.exp(logs) - error
    likelihood = [
        np.where(shares > absent_above, -50.0, 0.0) if one is None else -0.5 * ((one - shares) / error) ** 2
        for one in estimates
    ]
    return Track(
        "query",
        (None,) * len(estimates),
        shares,
        error,
        np.array(likelihood)[:, None, None, :],
        np.zeros(1),
        np.ones((1, 1)),
    )


def noisy(true: list[float], error: float, seed: int) -> list[float]:
    return (np.array(true) + error * np.random.default_rng(seed).standard_normal(len(true))).tolist()


def test_a_constant_share_is_averaged_over_all_rounds():
    tracks = [track(noisy([0.02] * 12, 0.001, seed), 0.001) for seed in range(15)]
    smoothed, weights = smooth(tracks)
    errors = np.array([one.shares - 0.02 for one in smoothed])
    assert 0.2 < errors.std() / 0.001 < 0.5  # 1/√12 is 0.29
    assert weights[STEPS < 0.03].sum() > 0.8
    widths = np.array([one.high - one.low for one in smoothed]) / (2 * 1.96 * 0.001)
    assert 0.25 < widths.mean() < 0.6


def test_quantiles_between_the_cells_are_those_of_the_normal_distribution():
    """Linear interpolation of probabilities would widen an interval of few cells by a tenth."""
    coarse = track([0.02], 0.001, cells=100)
    posterior = coarse.widths * (coarse.shares + 0.001) * np.exp(-0.5 * ((coarse.shares - 0.02) / 0.001) ** 2)
    assert (np.abs(coarse.shares - 0.02) < 0.002).sum() < 6
    interval = _summary(coarse, posterior[None, :], 0.0)
    assert (interval.low[0], interval.shares[0], interval.high[0]) == pytest.approx((0.01804, 0.02, 0.02196), abs=2e-5)


def test_fast_changes_are_left_alone():
    rng = np.random.default_rng(5)
    true = [0.01 * np.exp(np.cumsum(0.4 * rng.standard_normal(12))).clip(0.2, 4) for _ in range(10)]
    tracks = [track(noisy(list(one), 0.0003, seed), 0.0003, cells=300) for seed, one in enumerate(true)]
    smoothed, weights = smooth(tracks)
    errors = np.array([one.shares for one in smoothed]) - true
    assert errors.std() < 0.0003 * 1.05
    assert weights[(STEPS > 0.2) & (STEPS < 0.7)].sum() > 0.7


def test_a_jump_is_followed_at_once_and_the_rest_is_still_smoothed():
    steady = [track(noisy([0.02] * 12, 0.001, seed), 0.001) for seed in range(10)]
    true = [0.004] * 6 + [0.02] * 6
    jumping = [track(noisy(true, 0.001, 100 + seed), 0.001) for seed in range(10)]
    smoothed, _ = smooth(steady + jumping)
    errors = np.array([one.shares for one in smoothed[10:]]) - true
    assert errors.std() < 0.0008
    assert np.abs(errors[:, 5:7]).max() < 0.003
    assert all(one.change[1] < 0.016 < one.change[2] for one in smoothed[10:])
    assert all(one.change[1] < 0 < one.change[2] for one in smoothed[:10])


def test_absence_lowers_a_share_and_an_appearance_raises_it():
    gone, never = track([0.02, 0.02, None, None], 0.001, 0.005), track([None, None, 0.02, 0.02], 0.001, 0.005)
    (first, last), _ = smooth([gone, never])
    assert first.shares[0] == pytest.approx(0.02, rel=0.05)
    assert first.high[2] <= 0.0055
    assert last.high[1] <= 0.0055
    assert last.shares[3] == pytest.approx(0.02, rel=0.05)
    assert first.change[0] == pytest.approx(-last.change[0], rel=0.05)
    assert first.change[2] < 0 < last.change[1]


def test_absence_says_little_if_a_query_may_be_invisible():
    """Two visibilities: with the first, lists miss the query whatever its share; with the second, only a small one."""
    seen = track([0.02, None, None, None], 0.001, 0.005)
    blind = np.concatenate([np.zeros_like(seen.log_likelihood[1:]), seen.log_likelihood[1:]], axis=1)
    both = np.concatenate([np.repeat(seen.log_likelihood[:1], 2, axis=1), blind])
    (visible,), _ = smooth([seen])
    (unsure,), _ = smooth([replace(seen, log_likelihood=both, log_visibilities=np.log([0.2, 0.8]))])
    assert visible.high[3] < 0.006
    assert unsure.high[3] > 0.02


def test_one_round_gives_its_estimate():
    (only,), _ = smooth([track([0.02], 0.0005)])
    assert only.shares[0] == pytest.approx(0.02, rel=0.01)
    assert (only.low[0], only.high[0]) == pytest.approx((0.02 - 0.00098, 0.02 + 0.00098), rel=0.02)
    assert only.change == pytest.approx((0, 0, 0), abs=1e-9)


def test_the_size_of_lasting_errors_is_learnt():
    """If all queries agree that there is no bias, even one with an opinion of its own is believed to have hardly any."""
    laws = np.array([[0.02, 0.96, 0.02], [0.25, 0.5, 0.25]])
    agreed, doubtful = np.log([[[0.01, 1.0, 0.01]]]), np.log([[[1.0, 0.5, 0.1]]])
    steps = np.zeros((1, STEPS.size, 1))
    without = _learn(np.concatenate([doubtful + steps]), laws)[1][0].sum(axis=0)
    among = _learn(np.concatenate([doubtful + steps, *[agreed + steps] * 30]), laws)[1][0].sum(axis=0)
    assert without[1] < 0.75
    assert among[1] > 0.85


def test_an_interval_near_0_begins_at_0():
    (low,), _ = smooth([track([0.0002, -0.0002, 0.0001], 0.0005)])
    assert (low.low == 0).all()
    assert (low.high < 0.001).all()


def test_the_forward_pass_agrees_with_all_paths():
    """Three rounds on a grid of four shares: the likelihood is the sum over all 64 paths."""
    shares = np.array([0.001, 0.002, 0.004, 0.008])
    random = np.log(np.random.default_rng(1).uniform(0.1, 1, (3, 3, 2, 4)))
    small = Track("q", (None,) * 3, shares, 1e-9, random, np.log([0.2, 0.3, 0.5]), np.full((1, 2), 0.5))
    steps = np.array([0.0, 0.5])
    _, total = _forward(small, steps)
    moves, likelihood = _transitions(small, steps), np.exp(small.log_likelihood)
    likelihood /= likelihood.max(axis=(1, 2, 3), keepdims=True)
    prior = np.full(4, 0.25)  # the grid is even in the logarithms
    for size, visibility, bias in np.ndindex(2, 3, 2):
        l0, l1, l2 = likelihood[:, visibility, bias]
        paths = np.einsum("i,i,ij,j,jk,k->", prior, l0, moves[size], l1, moves[size], l2)
        assert total[size, visibility, bias] == pytest.approx(np.log(paths))


def test_transitions_are_probabilities_and_no_step_means_none():
    moves = _transitions(track([0.02], 0.001), STEPS)
    assert np.allclose(moves.sum(axis=2), 1)
    assert (np.diagonal(moves[0]) > 0.98).all()
    assert (np.diagonal(moves[-1]) < 0.1).all()


def test_the_expected_share_stays_the_same():
    """Away from the ends of the grid, and but for the jumps."""
    logs = np.linspace(np.log(1e-6), np.log(0.5), 400)
    wide = Track("q", (None,), np.exp(logs), 0.0, np.zeros((1, 1, 1, 400)), np.zeros(1), np.ones((1, 1)))
    moves = _transitions(wide, np.array([0.3]))[0] - _JUMP * wide.widths / wide.widths.sum()
    assert (moves @ wide.shares / (1 - _JUMP))[100:300] == pytest.approx(wide.shares[100:300], rel=1e-3)
