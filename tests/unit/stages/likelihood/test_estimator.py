from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_dp import Blender, Entropy, HeadList, aol_like
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.stages.discovery import Discovery
from blender_dp.stages.estimator import Context
from blender_dp.stages.likelihood import estimator, fit
from blender_dp.stages.likelihood.estimator import Calibration, Likelihood, discovery_evidence, scale_of
from blender_dp.stages.response import Response
from blender_dp_device.channel.subset import slack_free

LIST = HeadList.of([("a", "x"), ("a", "y"), ("b", "x"), ("c", "x")])
FOUND = Discovery(LIST, np.array([50.0, 30, 70, 9]), np.array([False, True, False, False]))
CONTEXT = Context(FOUND, 1000, (1.5, 4.0), 2.5, 6.0, 100, 2.5, project=True, robust=True)
SHARES = np.array([0.05, 0.03, 0.01, 0.07, 0.01, 0.009, 0.001, 0.82])
CHANNEL = slack_free(LIST, 4, "0.9")


def combine(opt_in: np.ndarray, clients: np.ndarray, **changes):
    """Noiseless counts of two groups with these shares."""
    counts = 1000 * opt_in[[0, 1, 3, 5]] + [1.5, 0, 1.5, 1.5]
    context = replace(CONTEXT, discovery=replace(FOUND, noisy_counts=counts), **changes)
    reports = np.rint(10**6 * Response.of(CHANNEL).expected(clients)).astype(np.int64)
    return Likelihood().combine(Calibration(LIST, 100 * opt_in), reports, CHANNEL, context)


def test_the_shortlist_is_the_queries_with_the_highest_counts():
    """a has 80, b has 70, c has 9; ties are broken by name, so that a seed gives the same result."""
    assert Likelihood().shortlist(FOUND, 2).head_list.queries == ("a", "b")
    assert Likelihood().shortlist(FOUND, 1).noisy_counts.tolist() == [50, 30]
    assert Likelihood().shortlist(FOUND, 10).head_list == LIST
    tied = replace(FOUND, noisy_counts=np.array([5.0, 5, 10, 10]))
    assert Likelihood().shortlist(tied, 2).head_list.queries == ("a", "b")


def test_calibration_counts_every_cell(entropy):
    counts = np.arange(8)
    found = Likelihood().calibrate(counts, FOUND, LaplaceHistogram.of(60), 1, entropy)
    assert found.noisy_counts == pytest.approx(counts, abs=1)
    assert found.head_list == LIST


def test_discovery_counts_are_assigned_to_their_records():
    released = discovery_evidence(CONTEXT).released
    assert released.counts.tolist() == [50, 30, 0, 70, 0, 9, 0, 0]
    assert released.known.tolist() == [True, True, False, True, False, True, False, False]
    assert released.thresholded.tolist() == [True, False, False, True, False, True, False, False]  # not the candidate
    assert np.asarray(released.mean)[released.known].tolist() == [1.5, 0, 1.5, 1.5]
    assert np.asarray(released.variance)[released.known].tolist() == [4, 2.5, 4, 4]
    assert (scale_of(CONTEXT), scale_of(replace(CONTEXT, threshold=0.2))) == (0.006, 0.001)


def test_both_groups_and_their_blend_are_stated():
    result = combine(SHARES, SHARES)
    for estimate in (result.opt_in.cells, result.client.cells, result.blended.cells):
        np.testing.assert_allclose(estimate.share[[0, 1, 3]], SHARES[[0, 1, 3]], rtol=0.1)
    assert (result.blended.cells.variance <= result.opt_in.cells.variance).all()
    for level in (result.blended.cells, result.blended.queries):
        assert ((level.weight >= 0) & (level.weight <= 1)).all()
        assert level.share.sum() == pytest.approx(1)


def test_robust_changes_nothing_if_groups_agree():
    doubting, believing = combine(SHARES, SHARES), combine(SHARES, SHARES, robust=False)
    np.testing.assert_array_equal(doubting.blended.cells.share, believing.blended.cells.share)


def test_the_clients_decide_a_contradiction():
    """Opt-in users have b x five times as often as clients: with `robust` the blend follows the clients, and reports it."""
    other = SHARES.copy()
    other[3], other[-1] = 0.35, SHARES[-1] - 0.28
    doubting, believing = combine(other, SHARES), combine(other, SHARES, robust=False)
    off = [abs(result.blended.queries.share[1] - 0.08) for result in (doubting, believing)]
    assert off[0] < 0.2 * off[1]
    assert off[0] < 3 * doubting.blended.queries.variance[1] ** 0.5
    np.testing.assert_array_equal(doubting.opt_in.cells.share, believing.opt_in.cells.share)


@pytest.mark.slow
def test_an_oscillating_share_converges(monkeypatch):
    """Where most users opt in, the clients' evidence about ⟨q, ⋆⟩ is weak, and full steps would overshoot for ever."""
    fits = []
    monkeypatch.setattr(estimator, "fit", lambda *given: fits.append(fit(*given)) or fits[-1])
    run = Blender(epsilon=4, delta=1e-5).run_log
    run(aol_like(2, users=60_000), "0.9", key=b"k", entropy=Entropy.seeded(1), simulation="cells")
    assert len(fits) == 2
    assert all(found.settled for found in fits)
