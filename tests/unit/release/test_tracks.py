from __future__ import annotations

import numpy as np
import pytest

from blender_dp.release import tracks
from blender_dp.release.tracks import _grid, tracks_of
from tests.rounds import rounds


@pytest.fixture(scope="module")
def collected():
    return rounds([{}, {"ebay": 0.0}], opt_in=0.1)


def test_the_grid_covers_every_estimate(collected):
    for track in tracks_of([one.release for one in collected]):
        assert (np.diff(track.shares) > 0).all()
        for row in track.rows:
            assert row is None or track.shares[0] <= max(row.share, 0) <= track.shares[-1]
        if None in track.rows:
            assert track.shares[0] == 0


def test_the_grid_is_even_in_logarithms_and_starts_at_0_if_a_round_does_not_list_the_query():
    always, sometimes = (_grid(np.array([[0.02, 0.0005], [0.021, 0.0004]]), 0.0004, unseen) for unseen in (None, 0.001))
    assert always[0] == pytest.approx(0.017)
    assert sometimes[0] == 0
    for shares in (always, sometimes):
        assert shares[-1] == pytest.approx(0.0234)
        assert np.diff(np.log(shares + 0.0004)) == pytest.approx(np.diff(np.log(shares + 0.0004))[0])


def test_tracks_are_made_one_at_a_time(collected, monkeypatch):
    """Together, those of a year and a list of 10,000 queries would need gigabytes."""
    made = []
    usual = tracks._track
    monkeypatch.setattr(tracks, "_track", lambda query, *more: made.append(query) or usual(query, *more))
    every = tracks_of([one.release for one in collected])
    assert (len(every) > 2, made) == (True, [])
    assert next(iter(every)).query == made[0] == min(every.spreads)
    assert len(made) == 1


def test_clients_and_opt_in_users_both_count(collected):
    """The likeliest share lies between the two groups' estimates, closer to the more precise one."""
    track = next(one for one in tracks_of([collected[0].release]) if one.query == "google")
    row, unbiased = track.rows[0], track.log_likelihood[0, track.bias_weights.argmax()]
    likeliest = track.shares[unbiased.argmax()]
    low, high = sorted([row.client_share, row.opt_in_share + 2 * 4 / 3 / 9_500])
    assert low <= likeliest <= high


def test_a_round_that_does_not_list_a_query_favours_small_shares(collected):
    track = next(one for one in tracks_of([one.release for one in collected]) if one.query == "ebay")
    assert track.rows[1] is None
    absent = track.log_likelihood[1, 3]
    assert (np.diff(absent) <= 1e-12).all()
    assert absent[0] > -0.01
    assert absent[-1] < -3
    assert (np.diff(track.log_likelihood[1], axis=0) <= 1e-12).all()  # the more opt-in users have it, the less likely
