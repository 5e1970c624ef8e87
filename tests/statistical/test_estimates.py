"""The estimates are unbiased and their variances are what the theorems say.

Monte-Carlo runs of the shipped code: records drawn anew, reported and denoised, thousands of times. A variance measured
over R runs has a relative standard error of about sqrt(2 / R); R is so large that 3 % is more than 4.9 standard errors.
All runs are estimated at once, along the first axis of an array; the first test checks that this is the same as one by one.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from blender_dp import Entropy, HeadList
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.stages import blend, calibrate, denoise
from blender_dp.stages.blending import Blend, optimal_weight
from blender_dp.stages.calibration import OptInEstimate
from blender_dp.stages.denoising import ClientEstimate, denoised
from blender_dp.stages.layout import Layout
from blender_dp.stages.response import Response
from blender_dp_device.channel import Channel
from blender_dp_device.channel.subset import SubsetChannel, slack_free
from tests.statistical.checks import Z, assert_mean, assert_ratio
from tests.statistical.monte_carlo import (
    CHANNEL,
    ERROR,
    ITEM_ALARM,
    ITEM_CHANNEL,
    ITEM_RUNS,
    ITEM_SHARES,
    ITEMS,
    LIST,
    QUERIES,
    SHARES,
    USERS,
    Runs,
    blended,
    calibrated,
    client_estimates,
    drawn_counts,
    opt_in_estimates,
)


@pytest.fixture(scope="module")
def client_runs():
    return client_estimates(CHANNEL, SHARES, Entropy.seeded("client runs"))


@pytest.fixture(scope="module")
def opt_in_runs():
    return opt_in_estimates(LIST, SHARES, Entropy.seeded("opt-in runs"))


@pytest.fixture(scope="module")
def item_runs():
    """Opt-in and client estimates of single items."""
    entropy = Entropy.seeded("item runs")
    opt_in = opt_in_estimates(ITEMS, ITEM_SHARES, entropy, ITEM_RUNS)
    return opt_in, client_estimates(ITEM_CHANNEL, ITEM_SHARES, entropy, ITEM_RUNS)


SUBSETS = {
    "two of four queries": (slack_free(LIST, 3, "0.7", 2), SHARES),
    "three of four queries": (slack_free(LIST, 2, "0.8", 3), SHARES),
    "two of four items": (slack_free(ITEMS, 1, "0.7", 2), ITEM_SHARES),
}


@pytest.fixture(scope="module", params=SUBSETS)
def subset_runs(request):
    """Client estimates from reports of several queries, and the true shares."""
    channel, shares = SUBSETS[request.param]
    assert isinstance(channel, SubsetChannel)
    estimates = client_estimates(channel, shares, Entropy.seeded(request.param), users=100)  # every cell is often reported
    return estimates, {"cells": shares, "queries": Layout(channel.url_counts).per_query(shares)}


@pytest.mark.parametrize(
    ("head_list", "channel", "shares"),
    [
        pytest.param(LIST, CHANNEL, SHARES, id="records"),
        pytest.param(ITEMS, ITEM_CHANNEL, ITEM_SHARES, id="items"),
        pytest.param(LIST, *SUBSETS["two of four queries"], id="two of four queries"),
    ],
)
def test_many_runs_at_once_are_the_same_as_one_by_one(head_list, channel, shares, entropy):
    mechanism = LaplaceHistogram.of(Fraction(1))
    for run in range(20):
        counts = drawn_counts(USERS * channel.size, shares, 1, entropy)
        streams = (Entropy.seeded(run), Entropy.seeded(run))
        single = calibrate(counts[0], head_list, mechanism, len(head_list), streams[0])
        many = calibrated(counts, head_list, mechanism, streams[1])
        assert_same(single, many)
        reports = denoise(counts[0], channel)
        many_reports = Runs(*denoised(np.vstack([counts, counts]), USERS, channel))
        assert_same(reports, many_reports)
        assert_same(blend(single, reports, project=False), blended(many, many_reports))


def assert_same(single: OptInEstimate | ClientEstimate | Blend, runs: Runs | Blend) -> None:
    for one, many in ((single.cells, runs.cells), (single.queries, runs.queries)):
        np.testing.assert_allclose(many.share[-1], one.share, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(many.variance[-1], one.variance, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("level", ["cells", "queries"])
def test_estimates_from_several_queries_are_unbiased_with_their_variance(subset_runs, level):
    """Theorem 3.6 holds for subset selection, with t and s the probabilities of being among the reported queries."""
    estimates, truth = subset_runs
    share, claimed = (stacked(estimates, level, what) for what in ("share", "variance"))
    for column, variance, expected in zip(share.T, claimed.mean(axis=0), truth[level], strict=True):
        assert_mean(column, expected)
        assert_ratio(column.var(ddof=1), variance, tolerance=0.03, noise=ERROR)


def stacked(runs: Runs, level: str, what: str) -> np.ndarray:
    return getattr(getattr(runs, level), what)


@pytest.mark.parametrize(("level", "truth"), [("cells", SHARES), ("queries", QUERIES)])
def test_client_estimates_are_unbiased(client_runs, level, truth):
    for column, share in zip(stacked(client_runs, level, "share").T, truth, strict=True):
        assert_mean(column, share)


@pytest.mark.parametrize("level", ["cells", "queries"])
def test_the_variance_follows_theorem_3_6(client_runs, level):
    real = stacked(client_runs, level, "share").var(axis=0, ddof=1)
    claimed = stacked(client_runs, level, "variance").mean(axis=0)
    for measured, expected in zip(real, claimed, strict=True):
        assert_ratio(measured, expected, tolerance=0.03, noise=ERROR)


def test_the_2017_variance_is_wrong(client_runs):
    """The conference version's covariance term makes the variance wrong by far more than the tolerance above."""
    n, words = USERS, float(CHANNEL.words)
    layout = Layout(CHANNEL.url_counts)
    k = len(CHANNEL.url_counts)
    t = 1 - CHANNEL.query_lie_bound / words
    s = CHANNEL.query_step / words
    k_q = layout.per_cell(layout.counts.astype(float))
    false_url = layout.per_cell(np.array(CHANNEL.url_steps) / words)
    d = t * (1 - (k_q - 1) * false_url) - t * false_url
    c = s / k_q - t * false_url
    share = stacked(client_runs, "cells", "share")
    query_share = layout.per_cell(client_runs.queries.share)
    r = share * d + t * false_url * query_share + s / k_q * (1 - query_share)
    query_variance = layout.per_cell(client_runs.queries.variance)
    claimed = (r * (1 - r) / (n - 1) + c**2 * query_variance + 2 * n / (n - 1) * c * (k - 2 + t) / (k * t - 1) * r) / d**2
    ratio = claimed.mean(axis=0) / share.var(axis=0, ddof=1)
    assert (np.abs(ratio[:-1] - 1) > 0.25).all()


def test_opt_in_estimates_are_unbiased_with_their_variance(opt_in_runs):
    """Theorem 3.5. Only shares well above 0 are checked: near 0 the clip makes the claim larger, on purpose."""
    share, claimed = stacked(opt_in_runs, "cells", "share"), stacked(opt_in_runs, "cells", "variance")
    listed = [0, 3, 9]
    truth = {0: SHARES[0], 3: SHARES[3], 9: SHARES[[2, 4, 8, 9]].sum()}
    for cell in listed:
        assert_mean(share[:, cell], truth[cell])
        assert_ratio(share[:, cell].var(ddof=1), claimed[:, cell].mean(), tolerance=0.03, noise=ERROR)


@pytest.mark.parametrize("level", ["cells", "queries"])
@pytest.mark.parametrize("group", [0, 1], ids=["opt-in", "client"])
def test_estimates_of_single_items_are_unbiased_with_their_variance(item_runs, group, level):
    """Theorems 3.5 and 3.6 with one level, ⋆ included; the opt-in users' counts have the heavier tails of Laplace noise."""
    share, claimed = (stacked(item_runs[group], level, what) for what in ("share", "variance"))
    for column, variance, truth in zip(share.T, claimed.mean(axis=0), ITEM_SHARES, strict=True):
        assert_mean(column, truth)
        kurtosis = float((((column - truth) ** 4).mean()) / column.var() ** 2)
        noise = ((kurtosis - 1) / ITEM_RUNS) ** 0.5
        assert_ratio(column.var(ddof=1), variance, tolerance=0.03, noise=noise, alarm=ITEM_ALARM)


def test_spending_the_whole_budget_reduces_the_variance_of_single_items(item_runs):
    """Against the variance with the split of two levels (f_C = 0.7), by the formula that the runs confirm for one level."""
    split = Channel.of(HeadList.of((q, "u") for q in "abc"), Fraction(1), Fraction(1, 10**5), Fraction("0.7"))
    slopes = [1 - len(c.url_counts) * c.query_step / c.words for c in (ITEM_CHANNEL, split)]
    claimed = [[r * (1 - r) / slope**2 for r in (1 - slope) / 4 + slope * ITEM_SHARES] for slope in slopes]
    real = stacked(item_runs[1], "cells", "share").var(axis=0, ddof=1)
    for measured, expected, worse in zip(real, *claimed, strict=True):
        assert_ratio(measured, expected / USERS, tolerance=0.03, noise=ERROR)
        assert measured < 0.7 * worse / USERS


def squared_errors(opt_in: Runs, client: Runs, truth: np.ndarray, cells: list[int]) -> np.ndarray:
    """The sum of squared errors over all runs of the blend, the opt-in users and the clients."""
    shares = np.array([group.cells.share[:, cells] for group in (blended(opt_in, client), opt_in, client)])
    return ((shares - truth[cells]) ** 2).sum(axis=(1, 2))


def test_blended_single_items_are_better_than_either_group(item_runs):
    both, *groups = squared_errors(*item_runs, ITEM_SHARES, [0, 1, 2, 3])
    assert both < 0.95 * min(groups)


def test_the_weights_are_optimal(client_runs, opt_in_runs):
    """With the true variances, the theorem's weight gives the least variance, and the variance it promises."""
    cell = 3
    opt_in, client = stacked(opt_in_runs, "cells", "share")[:, cell], stacked(client_runs, "cells", "share")[:, cell]
    best = float(optimal_weight(opt_in.var(ddof=1, keepdims=True), client.var(ddof=1, keepdims=True))[0])
    assert 0.1 < best < 0.9

    def variance(weight: float) -> float:
        return float((weight * opt_in + (1 - weight) * client).var(ddof=1))

    promised = 1 / (1 / opt_in.var(ddof=1) + 1 / client.var(ddof=1))
    assert_ratio(variance(best), promised, tolerance=0.03, noise=ERROR)
    assert variance(best) < min(variance(0), variance(1), variance(best - 0.15), variance(best + 0.15))


def test_the_naive_variance_of_a_query_is_too_small(entropy):
    """The papers give a query's opt-in total the noise of one count. With 8 URLs it has the noise of 8."""
    head_list = HeadList.of(("q", f"u{i}") for i in range(8))
    mechanism, users, runs = LaplaceHistogram.of(Fraction(1)), 100, 20_000
    counts = np.array([*[5] * 8, 0, 60])  # fixed, so that all variance comes from the noise
    shares = calibrated(np.tile(counts, (runs, 1)), head_list, mechanism, entropy).queries.share[:, 0]
    noise = mechanism.noise.variance / users**2
    kurtosis = 3 + 3 / 8  # of a sum of 8 Laplace noises
    assert_ratio(shares.var(ddof=1), 8 * noise, tolerance=0.06, noise=((kurtosis - 1) / runs) ** 0.5)


def test_the_papers_blend_shows_the_www_google_com_effect(entropy):
    """Where the opt-in estimate is accidentally low, its sample variance is low too, and the blend follows it.

    The conference version's Figure 9 has the case: truth .0034, opt-in .0004, client .0032, blended .0004. With few
    calibration users, the unlucky tenth of the runs gives the opt-in users more than twice the weight that their real
    variance deserves, and the blend is biased downwards; the weight from the real variances would not have done that.
    """
    share, users, clients, runs = 0.0034, 1300, 185_000, 8000
    head_list = HeadList.of([("www.google.com", "https://www.google.com/")])
    mechanism = LaplaceHistogram.of(4)
    channel = Channel.of(head_list, 4, 1e-5, "0.85")
    numbers, shares = np.random.default_rng(9), np.array([share, 0, 1 - share])
    measured = calibrated(numbers.multinomial(users, shares, runs), head_list, mechanism, entropy)
    reports = numbers.multinomial(clients, Response.of(channel).expected(shares), runs)  # exact: see `test_simulation.py`
    reported = Runs(*denoised(reports, clients, channel))
    queries = blended(measured, reported).queries
    weight, average = queries.weight[:, 0], queries.share[:, 0]
    opt_in, client = measured.queries.share[:, 0], reported.queries.share[:, 0]
    fair = float(optimal_weight(opt_in.var(keepdims=True), client.var(keepdims=True))[0])
    fairly = fair * opt_in + (1 - fair) * client
    unlucky = opt_in < np.quantile(opt_in, 0.1)
    assert weight[unlucky].mean() > 2 * fair
    assert (average[unlucky] - share).mean() < 2 * (fairly[unlucky] - share).mean() < 0
    assert average.mean() < share - Z * average.std() / runs**0.5  # biased over all runs, although neither group is
    assert_mean(opt_in, share)
    assert_mean(client, share)


def test_blending_is_better_than_either_group(client_runs, opt_in_runs):
    """The purpose of the system: over all runs, the blend's squared error is below both groups'.

    Each margin is many times its standard error: the runs measure mean squared errors to less than 1 %.
    """
    # Σ_u over listed URLs and p_q over all URLs differ (a limit of the papers), so records are compared, not queries.
    both, *groups = squared_errors(opt_in_runs, client_runs, SHARES, [0, 1, 3, 5, 6, 7])
    assert both < 0.9 * min(groups)
