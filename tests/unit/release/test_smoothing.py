from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_dp.release import smoothing
from blender_dp.release.movement import EVENTS, STEPS, SWINGS, Movement
from blender_dp.release.smoothing import _change, _difference, _forward, _intervals, _learn, _parts, smooth
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
    assert weights[(STEPS < 0.03) & (EVENTS < 0.1) & ~SWINGS].sum() > 0.8
    widths = np.array([one.high - one.low for one in smoothed]) / (2 * 1.96 * 0.001)
    assert 0.25 < widths.mean() < 0.6


def test_quantiles_between_the_cells_are_those_of_the_normal_distribution():
    """Linear interpolation of probabilities would widen an interval of few cells by a tenth."""
    coarse = track([0.02], 0.001, cells=100)
    posterior = coarse.widths * (coarse.shares + 0.001) * np.exp(-0.5 * ((coarse.shares - 0.02) / 0.001) ** 2)
    assert (np.abs(coarse.shares - 0.02) < 0.002).sum() < 6
    middle, low, high = _intervals(coarse, posterior[None, :] / posterior.sum())
    assert (low[0], middle[0], high[0]) == pytest.approx((0.01804, 0.02, 0.02196), abs=2e-5)


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


def small(biases: int, visibilities: int, rounds: int = 3) -> Track:
    """Random likelihoods on a grid of four shares."""
    shares = np.array([0.001, 0.002, 0.004, 0.008])
    random = np.log(np.random.default_rng(1).uniform(0.1, 1, (rounds, visibilities, biases, 4)))
    chances = np.log(np.arange(1, visibilities + 1) / np.arange(1, visibilities + 1).sum())
    return Track("q", (None,) * rounds, shares, 1e-9, random, chances, np.full((1, biases), 1 / biases))


def seen(movement: Movement, kind: int) -> np.ndarray:
    """The probability of every share (column) given the level (row)."""
    levels = np.eye(4)
    return movement.to_shares(movement.chances[kind][:, None, None] * levels)


def test_the_forward_pass_agrees_with_all_paths():
    """Three rounds on a grid of four shares: the likelihood is the sum over all paths of levels and shares."""
    track = small(biases=2, visibilities=3)
    movement = Movement(track, np.arange(STEPS.size))
    _, total = _forward(movement)
    likelihood = np.exp(track.log_likelihood)
    likelihood /= likelihood.max(axis=(1, 2, 3), keepdims=True)
    prior = np.full(4, 0.25)  # the grid is even in the logarithms
    for kind, visibility, bias in np.ndindex(STEPS.size, 3, 2):
        l0, l1, l2 = likelihood[:, visibility, bias] @ seen(movement, kind).T
        move = movement.moves[kind]
        paths = np.einsum("i,i,ij,j,jk,k->", prior, l0, move, l1, move, l2)
        assert total[kind, visibility, bias] == pytest.approx(np.log(paths))


def test_the_change_is_that_of_all_paths(monkeypatch):
    """The joint distribution of the first and the last share, summed over all paths of all cases, gives the interval."""
    track = small(biases=2, visibilities=3)
    movement = Movement(track, np.array([5, 9]))
    belongs = np.arange(1, 13).reshape(2, 3, 2) ** 2 / 650
    joints = []  # the last ones are the most probable
    for kind, visibility, bias in np.ndindex(belongs.shape):
        likelihood, law, move = np.exp(track.log_likelihood[:, visibility, bias]), seen(movement, kind), movement.moves[kind]
        one = np.einsum("ia,a,ij,jb,b,jk,kc,c->ac", law, likelihood[0], move, law, likelihood[1], move, law, likelihood[2])
        joints.append(belongs[kind, visibility, bias] * one / one.sum())
    joint, rest = np.sum(joints, axis=0), np.sum(joints[:3], axis=0)
    shares = joint.sum(axis=1), joint.sum(axis=0)
    monkeypatch.setattr(smoothing, "_MOST", 1.0)
    exact = _difference(track, joint.T, track.shares)
    assert _change(movement, belongs, *shares) == pytest.approx(exact, rel=1e-6)
    monkeypatch.setattr(smoothing, "_CASES", 9)  # of twelve: in the others, both shares are independent
    joined = joint - rest + np.outer(rest.sum(axis=1), rest.sum(axis=0)) / rest.sum()
    found = _change(movement, belongs, *shares)
    assert found == pytest.approx(_difference(track, joined.T, track.shares), rel=1e-5)
    assert found[0] < exact[0] < exact[1] < found[1]


def test_a_share_that_may_be_0_is_0_if_that_makes_the_interval_of_a_change_longer():
    """A first share below the offset, and a last one of 2 %: the change may be the whole last share."""
    one = track([0.02], 0.001, cells=400)
    last = one.widths * (one.shares + one.offset) * np.exp(-0.5 * ((one.shares - 0.02) / 0.001) ** 2)
    appeared = np.zeros((400, 400))
    appeared[:, np.searchsorted(one.shares, 0.0008)] = last
    assert _difference(one, appeared, one.shares) == pytest.approx((0.02 - 0.00196 - 0.0008, 0.02 + 0.00196), abs=3e-5)
    vanished = _difference(one, appeared.T, one.shares)
    assert vanished == pytest.approx((-0.02 - 0.00196, 0.0008 - 0.02 + 0.00196), abs=3e-5)


def test_an_interval_that_begins_at_0_has_the_rest_of_the_probability_above_it():
    """Then 5 % are above the interval, not 2.5 %."""
    near = track([0.02], 0.001, cells=400)
    falling = near.widths * (near.shares + near.offset) * np.exp(-near.shares / 0.002)
    _, low, high = _intervals(near, falling[None, :] / falling.sum())
    assert low[0] == 0
    assert high[0] == pytest.approx(0.002 * np.log(20), rel=0.02)


def test_a_likelihood_that_contradicts_all_others_leaves_finite_shares():
    """Two rounds that exclude each other's shares for every bias: edited releases can say so."""
    one = track([0.002, 0.04, 0.002, 0.04], 1e-4)
    impossible = np.where(np.arange(2)[:, None] == (np.arange(4) % 2)[:, None, None, None], -1e4, 0.0)
    doubled = replace(one, log_likelihood=one.log_likelihood + impossible, bias_laws=np.full((1, 2), 0.5))
    (smoothed,), _ = smooth([doubled])
    values = np.concatenate([smoothed.low, smoothed.shares, smoothed.high, smoothed.change])
    assert np.isfinite(values).all()
    assert (smoothed.low <= smoothed.shares).all()
    assert (smoothed.shares <= smoothed.high).all()


def test_the_last_share_has_parts_even_if_every_cell_is_improbable():
    assert _parts(np.full(1000, 1e-3)).sum(axis=0) == pytest.approx(1)
    parts = _parts(np.array([0.001, 0.5, 0.001, 0.001, 0.497]))
    assert parts.tolist() == [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]


def test_queries_with_frequent_events_are_recognised():
    """Two events of one round among ten rounds, for every query: the tenth kind explains that best."""
    true = [0.02, 0.02, 0.032, 0.02, 0.02, 0.02, 0.02, 0.012, 0.02, 0.02]
    tracks = [track(noisy(np.roll(true, seed).tolist(), 0.001, seed), 0.001) for seed in range(20)]
    _, weights = smooth(tracks)
    assert EVENTS.argmax() == 9
    assert weights.argmax() == 9


def test_an_event_can_lead_anywhere():
    """A hundred times the share for a round: not probable, but never excluded."""
    movement = Movement(track([0.02], 0.0001, cells=300), np.array([0]))
    law = movement.to_shares(
        np.stack([np.zeros(300), np.zeros(300), np.eye(300)[np.searchsorted(movement.track.shares, 4e-4)]])
    )
    assert law[movement.track.shares > 0.04].sum() == pytest.approx(
        0.5 * movement.anywhere[movement.track.shares > 0.04].sum(), rel=0.5
    )


def test_probabilities_sum_to_1_and_no_step_means_none():
    movement = Movement(track([0.02], 0.001), np.arange(STEPS.size))
    assert np.allclose(movement.moves.sum(axis=2), 1)
    assert np.allclose(movement.chances.sum(axis=1), 1)
    assert np.allclose(movement.to_shares(movement.chances[-1][:, None, None] * np.eye(120)).sum(axis=1), 1)
    assert (np.diagonal(movement.moves[0]) > 0.98).all()
    assert (np.diagonal(movement.moves[8]) < 0.1).all()


def test_the_expected_level_stays_the_same():
    """Away from the ends of the grid, and but for the events."""
    logs = np.linspace(np.log(1e-6), np.log(0.5), 400)
    wide = Track("q", (None,), np.exp(logs), 0.0, np.zeros((1, 1, 1, 400)), np.zeros(1), np.ones((1, 1)))
    moves = [Movement(wide, np.array([kind])).moves[0] for kind in (0, 6)]
    assert STEPS[6] == pytest.approx(0.32)
    steps = moves[1] - (moves[0] - np.diag(np.full(400, 1 - EVENTS[0] / 2)))  # no steps, so that only the events are left
    assert (steps @ wide.shares / (1 - EVENTS[6] / 2))[100:300] == pytest.approx(wide.shares[100:300], rel=1e-3)


def test_a_share_that_is_in_the_news_for_a_round_keeps_its_published_value():
    """Eight standard errors above eleven equal rounds, among queries that never change: an event, and over at once."""
    steady = [track(noisy([0.02] * 12, 0.001, seed), 0.001) for seed in range(20)]
    (event, *_), _ = smooth([track([0.02] * 6 + [0.028] + [0.02] * 5, 0.001, cells=300), *steady])
    assert event.shares[6] == pytest.approx(0.028, abs=0.0003)
    assert (event.low[6], event.high[6]) == pytest.approx((0.026, 0.03), abs=0.0005)
    assert event.shares[[5, 7]] == pytest.approx(0.02, abs=0.0003)
    assert (event.high - event.low)[[5, 7]] == pytest.approx(0.0013, abs=0.0003)
    assert event.change[2] - event.change[1] < 0.003


def test_an_interval_says_so_where_an_event_is_in_doubt():
    """Three and a half standard errors can be noise or an event: the interval has both."""
    steady = [track(noisy([0.02] * 12, 0.001, seed), 0.001) for seed in range(20)]
    (event, *_), _ = smooth([track([0.02] * 6 + [0.0235] + [0.02] * 5, 0.001, cells=300), *steady])
    assert event.low[6] < 0.0203
    assert event.high[6] > 0.0235


def test_a_share_that_goes_up_and_down_around_its_level_is_not_smoothed_away():
    """Seasons of four rounds: half more, the level, half less, the level."""
    true = [0.02 * factor for factor in (1.5, 1, 0.5, 1)] * 3
    tracks = [track(noisy(true, 0.004, seed), 0.004) for seed in range(15)]
    smoothed, _ = smooth(tracks)
    covered = [(one.low <= true) & (true <= one.high) for one in smoothed]
    assert np.mean(covered) > 0.9
    errors = np.array([one.shares for one in smoothed]) - true
    assert np.abs(errors).mean() < 0.95 * 0.8 * 0.004


def test_changes_of_one_round_are_possible_and_uncertain():
    """A first round that says nothing: the change is between the two shares being equal and a first share of nearly 0."""
    blind = track([0.02, 0.02], 0.001)
    blind = replace(
        blind, log_likelihood=np.concatenate([np.zeros_like(blind.log_likelihood[:1]), blind.log_likelihood[1:]])
    )
    (one,), _ = smooth([blind])
    _, low, high = one.change
    assert low >= one.low[1] - blind.shares[-1]
    assert high <= one.high[1] + 0.001
    assert high - low > 3 * (one.high[1] - one.low[1])


@pytest.mark.parametrize("factor", [1.5, 2.0])
def test_the_change_over_two_rounds_has_what_they_say(factor):
    """A query that rises by many standard errors, among queries that do not change."""
    steady = [track(noisy([0.02] * 2, 0.0005, seed), 0.0005) for seed in range(20)]
    (one, *_), _ = smooth([track([0.01, 0.01 * factor], 0.0005, cells=300), *steady])
    assert one.change[1] < 0.01 * factor - 0.01 < one.change[2]
    assert one.change[0] == pytest.approx(one.shares[1] - one.shares[0])
