from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from blender_dp.release import tracks
from blender_dp.release.population import sampling_variance
from blender_dp.release.tracks import (
    _BIASES,
    _SCALES,
    _bias_laws,
    _evidence,
    _grid,
    _Round,
    _visibilities,
    _without_clients,
    tracks_of,
)
from tests.rounds import rounds

UNBIASED = int(np.flatnonzero(_BIASES == 0)[0])


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


def test_the_grid_starts_at_0_if_a_round_does_not_list_the_query():
    always, sometimes = (_grid(np.array([[0.02, 0.0005], [0.021, 0.0004]]), 0.0001, unseen) for unseen in ([], [0.001]))
    assert always[0] == pytest.approx(0.017)
    assert sometimes[0] == 0
    assert (always[-1], sometimes[-1]) == pytest.approx((0.0234, 0.0234))


def test_the_grid_is_fine_around_every_estimate_even_if_they_are_far_apart():
    """Twelve rounds from 0.1 % to 30 %, each with an error far below a hundredth of the range."""
    estimates = np.column_stack([np.geomspace(0.001, 0.3, 12), np.geomspace(0.0003, 0.0015, 12)])
    shares = _grid(estimates, 0.0001, [])
    assert shares.size <= 240
    for mean, error in estimates:
        near = np.flatnonzero(np.abs(shares - mean) < 2 * error)
        assert np.diff(shares[near]).max() < error


@pytest.mark.parametrize("extreme", [(-0.05, 3e-4), (0.1, 1e-8), (1.2, 1e-4)])
def test_there_is_a_grid_for_estimates_that_are_far_from_every_cell(extreme):
    """Forged reports can make a share negative by hundreds of standard errors."""
    shares = _grid(np.array([[0.001, 1e-4], extreme, [0.3, 1e-4]]), 2e-9, [0.001])
    assert np.isfinite(shares).all()
    assert (np.diff(shares) > 0).all()
    assert shares[0] == 0


@pytest.mark.parametrize("share", [0.9999, 1.5, 5.0])
def test_the_grid_ends_at_1_however_large_the_published_shares_are(share):
    """Forged or damaged releases can publish impossible shares."""
    shares = _grid(np.array([[share, 1e-4], [share, 1e-4]]), 2e-5, [])
    assert np.isfinite(shares).all()
    assert (np.diff(shares) > 0).all()
    assert 0 <= shares[0] < shares[-1] == pytest.approx(1)


@pytest.mark.parametrize("error", [1e-3, 1e-6, 1e-9, 1e-12])
def test_the_grid_has_a_limit_however_precise_an_estimate_is(error):
    """At a high ε, or if everyone has the same record, published variances can be 0."""
    shares = _grid(np.array([[1.0, error], [1.0, error], [0.3, error]]), 0.25 * error, [])
    assert shares.size < 100
    assert (np.diff(shares) > 0).all()
    assert shares[-1] == pytest.approx(1)


def test_the_grid_has_a_limit_however_many_rounds_there_are():
    """Years of weekly rounds, in which a share doubles again and again."""
    estimates = np.column_stack([np.geomspace(1e-4, 0.5, 400), np.geomspace(1e-6, 1e-4, 400)])
    assert 500 < _grid(estimates, 1e-6, []).size < 900


@pytest.mark.parametrize("offset", [1e-5, 0.7e-4, 1e-4, 1.3e-4])
def test_a_round_that_would_list_every_share_above_0_leaves_a_grid(offset):
    """Such as one whose list has room, but lacks a candidate: edited releases can say so."""
    shares = _grid(np.array([[0.02, 0.0005]]), offset, [0.0])
    assert shares[0] == 0
    assert (np.diff(shares) > 0).all()


def evidence_of_google(release, **values):
    """What a release says about one query, whose estimates are replaced."""
    row = replace(next(row for row in release.queries if row.query == "google"), **values)
    spread = tracks_of([release]).spreads["google"]
    return _evidence(row, _Round.of(release, [release.head_list]), spread)


def test_no_share_is_known_better_than_by_counting_the_users():
    """A count of 0 has a published variance of 0, and would outweigh everything else."""
    for estimator in ("likelihood", "average"):
        (one,) = rounds([{}], opt_in=0.1, estimator=estimator)
        counted = evidence_of_google(one.release, share=0.02, variance=1e-9, client_share=0.0, client_variance=0.0)
        assert counted.client_variance == pytest.approx(0.02 * 0.98 / 90_000)
        assert np.isfinite(counted.rest_variance)
        unseen = evidence_of_google(
            one.release, share=0.0, variance=0.0, client_share=0.0, client_variance=0.0, opt_in_variance=0.0
        )
        assert (unseen.variance, unseen.client_variance) == pytest.approx((1e-10, 1 / 90_000**2))
        if estimator == "average":
            assert unseen.rest_variance == pytest.approx(1 / one.release.manifest.calibration_users**2)


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
    row, unbiased = track.rows[0], track.log_likelihood[0, -1, UNBIASED]
    likeliest = track.shares[unbiased.argmax()]
    low, high = sorted([row.client_share, row.opt_in_share + 2 * 4 / 3 / 9_500])
    assert low <= likeliest <= high


def test_the_clients_and_the_rest_average_to_what_was_published(collected):
    """Otherwise a smoothed share would be worse than the published one where there is nothing to smooth."""
    release = collected[0].release
    for row in (row for row in release.queries if row.query is not None):
        variance = row.variance + sampling_variance(row, release.manifest)
        rest, rest_variance = _without_clients(row, variance, row.client_variance)
        precisions = 1 / row.client_variance, 1 / rest_variance
        assert 1 / sum(precisions) == pytest.approx(variance)
        assert (row.client_share * precisions[0] + rest * precisions[1]) * variance == pytest.approx(row.share)
    assert _without_clients(row, variance, variance)[1] == np.inf


def test_a_round_that_does_not_list_a_query_favours_small_shares(collected):
    track = next(one for one in tracks_of([one.release for one in collected]) if one.query == "ebay")
    assert track.rows[1] is None
    absent = track.log_likelihood[1, -1, UNBIASED]
    assert (np.diff(absent) <= 1e-12).all()
    assert absent[0] > -0.01
    assert absent[-1] < -2.9
    visibilities, biases = (np.diff(track.log_likelihood[1], axis=axis) for axis in (0, 1))
    assert (biases <= 1e-12).all()  # the more opt-in users have it, the less likely it is missing
    assert (visibilities <= 1e-12).all()
    assert visibilities.size


def test_large_biases_are_rather_negative_than_positive_and_small_scales_allow_none():
    laws = _bias_laws()
    assert laws.sum(axis=1) == pytest.approx(1)
    assert laws[0, UNBIASED] > 0.99
    assert laws[-1][_BIASES < -1.9].sum() > 1.2 * laws[-1][_BIASES > 1.9].sum()
    spreads = (laws * _BIASES**2).sum(axis=1)
    assert (np.diff(spreads) > 0).all()
    assert 0.5 < spreads[_SCALES == 1.0][0] < 3


def evidence(count: float) -> SimpleNamespace:
    return SimpleNamespace(users=10_000, share=count / 10_000)


def test_a_rarely_listed_query_may_be_less_visible_than_it_seems():
    """Above all if most of its users have URLs that are not listed: then one of many URLs was lucky."""
    clear, logs = _visibilities([evidence(9)], {"a": 0.95})
    hidden, other_logs = _visibilities([evidence(45)], {"a": 0.19})  # as many users with the listed URL
    assert (clear.tolist(), hidden.tolist()) == ([0.7, 1.0], [0.3, 0.7, 1.0])
    assert [np.exp(one).sum() for one in (logs, other_logs)] == pytest.approx([1, 1], abs=0.002)
    assert 0.9 < np.exp(logs[-1]) < 0.99


def test_luck_does_not_explain_large_counts():
    assert _visibilities([evidence(500)], {"a": 0.3})[0].tolist() == [1.0]
    assert _visibilities([evidence(9)] * 12, {"a": 0.95})[0].tolist() == [1.0]
    assert _visibilities([evidence(30)], {None: 1.0})[0].tolist() == [0.7, 1.0]  # a single item has no other URLs
