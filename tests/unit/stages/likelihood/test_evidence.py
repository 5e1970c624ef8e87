from __future__ import annotations

import numpy as np
import pytest

from blender_dp import HeadList
from blender_dp.stages.layout import Layout
from blender_dp.stages.likelihood.evidence import Evidence, Measured, Released, Reported
from blender_dp.stages.response import Response
from blender_dp_device.channel.subset import slack_free
from tests.unit.stages.likelihood.test_system import matrix

LIST = HeadList.of([("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"), ("c", "y"), ("c", "z")])
SHARES = np.array([0.10, 0.05, 0.02, 0.20, 0.03, 0.04, 0.03, 0.02, 0.01, 0.50])
LAYOUT = Layout(LIST.url_counts)
KNOWN = np.array([1, 1, 0, 1, 0, 1, 1, 1, 0, 0], bool)


def released(counts: np.ndarray, **changes) -> Released:
    usual = {"known": KNOWN, "thresholded": KNOWN, "users": 1000, "mean": 0.0, "variance": 3.0, "threshold": 5.0}
    return Released(counts=counts, **{**usual, **changes})


def sideways(whole: np.ndarray) -> np.ndarray:
    """The information about changes that keep the sum at 1."""
    cells = whole.shape[0]
    along = np.eye(cells) - 1 / cells
    return along @ whole @ along


@pytest.mark.parametrize("public", [False, True])
def test_discovery_has_the_information_of_a_noisy_multinomial(public):
    """n² Σ⁻¹ and n Σ⁻¹ (counts - expected), with Σ = diag(np + v) - n p pᵀ over the known cells."""
    counts = 1000 * SHARES + np.arange(10.0)
    pull = released(counts, thresholded=np.zeros(10, bool)).pull(SHARES) if public else released(counts).pull(SHARES)
    whole, score = matrix(LAYOUT, [pull])
    p = SHARES[KNOWN]
    inverse = np.linalg.inv(np.diag(1000 * p + 3) - 1000 * np.outer(p, p))
    np.testing.assert_allclose(whole[np.ix_(KNOWN, KNOWN)], 1000**2 * inverse, rtol=1e-6)
    assert np.abs(whole[~KNOWN][:, KNOWN]).max() == 0
    residual = (counts - 1000 * SHARES)[KNOWN]
    if not public:
        residual = residual - (released(counts).tail_exponent + 1 / 3) * (1000 * p + 3) / (1000 * p)
    np.testing.assert_allclose(score[KNOWN], 1000 * inverse @ residual, rtol=1e-9)
    assert np.abs(score[~KNOWN]).max() == 0


def test_the_mean_noise_of_discovery_is_subtracted_from_its_counts():
    shifted = released(1000 * SHARES + 2.5, mean=np.where(KNOWN, 2.5, 0.0), thresholded=np.zeros(10, bool)).pull(SHARES)
    assert np.abs(shifted.score).max() < 1e-9


def test_calibration_has_the_information_of_a_multinomial():
    """Without noise: n diag(1/p), which is the multinomial's information about changes that keep the sum."""
    pull = Measured(np.zeros(10), 300, 0.0).pull(SHARES)
    whole, _ = matrix(LAYOUT, [pull])
    wanted = np.linalg.pinv((np.diag(SHARES) - np.outer(SHARES, SHARES)) / 300)
    np.testing.assert_allclose(sideways(whole), sideways(wanted), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("epsilon", ["0.5", "2", "6"])
def test_reports_of_one_query_have_the_information_of_a_multinomial(epsilon):
    """Jᵀ Σ⁺ J with the channel's own matrix J and the multinomial covariance Σ of the reported cells."""
    response = Response.of(slack_free(LIST, epsilon, "0.85"))
    n, r = 5000, response.expected(SHARES)
    moved = np.array([response.expected(row) for row in np.eye(10)]).T
    base = response.expected(np.zeros(10))
    jacobian = moved - base[:, None]
    counts = n * r + np.linspace(-30, 30, 10)
    whole, score = matrix(LAYOUT, [Reported(counts, n, response).pull(SHARES)])
    inverse = np.linalg.pinv((np.diag(r) - np.outer(r, r)) * n)
    np.testing.assert_allclose(sideways(whole), sideways(n**2 * jacobian.T @ inverse @ jacobian), rtol=1e-6, atol=1e-5)
    wanted = n * jacobian.T @ inverse @ (counts - n * r)
    np.testing.assert_allclose(score - score.mean(), wanted - wanted.mean(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("size", [2, 5])
def test_reports_of_several_single_items_have_the_information_of_subsets(size):
    """With equal shares, where the covariance of a subset is known in closed form: r(1 - r), and the same for all pairs."""
    items = HeadList.of((str(i), None) for i in range(19))
    response = Response.of(slack_free(items, 1, "0.85", size))
    n, k, shares = 4000, 20, np.full(20, 1 / 20)
    r = response.expected(shares)
    np.testing.assert_allclose(r, size / k)
    # Over the clients, every query is reported with probability r, and all subsets equally often: Cov = -r(1 - r)/(k - 1).
    spread = r[0] * (1 - r[0])
    covariance = n * spread * (np.eye(k) * k / (k - 1) - 1 / (k - 1))
    slope = response.query_truth - response.query_lie
    whole, _ = matrix(Layout(items.url_counts), [Reported(n * r, n, response).pull(shares)])
    np.testing.assert_allclose(sideways(whole), sideways(n**2 * slope**2 * np.linalg.pinv(covariance)), rtol=1e-6, atol=1e-5)


def test_reports_of_several_queries_follow_the_stated_covariance():
    """Jᵀ V⁻¹ J with V = diag(r) - β r rᵀ within each query, a URL being drawn for each reported one."""
    response = Response.of(slack_free(LIST, 1, "0.85", 2))
    n, r = 5000, response.expected(SHARES)
    jacobian = np.array([response.expected(row) for row in np.eye(10)]).T - response.expected(np.zeros(10))[:, None]
    beta = 4 * (2 - 1) / (2 * (4 - 1))
    same = np.equal.outer(*[np.repeat(np.arange(4), LAYOUT.counts)] * 2)
    inverse = np.linalg.inv(n * (np.diag(r) - beta * same * np.outer(r, r)))
    counts = n * r + np.linspace(-30, 30, 10)
    whole, score = matrix(LAYOUT, [Reported(counts, n, response).pull(SHARES)])
    np.testing.assert_allclose(whole, n**2 * jacobian.T @ inverse @ jacobian, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(score, n * jacobian.T @ inverse @ (counts - n * r), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.6])
def test_hills_estimate_finds_a_power_law(exponent):
    """From 20,000 counts at the quantiles of the law."""
    survival = (np.arange(20_000) + 0.5) / 20_000
    counts = 5.5 * survival ** (-1 / exponent)
    everywhere = np.ones(counts.size, bool)
    found = released(counts, known=everywhere, thresholded=everywhere).tail_exponent
    assert found == pytest.approx(exponent, rel=0.01)


def test_with_few_counts_the_power_law_is_the_prior_one():
    nothing = np.zeros(10, bool)
    assert released(np.zeros(10), thresholded=nothing).tail_exponent == 1
    one = np.arange(10) == 0
    assert released(np.full(10, 5.5), thresholded=one).tail_exponent == pytest.approx(1.1)  # (1 + 10) / (0 + 10)
    assert released(np.full(10, 5.5), thresholded=np.ones(10, bool)).tail_exponent == 2  # never above
    assert released(np.full(10, 1e90), thresholded=np.ones(10, bool)).tail_exponent == 0.2  # never below


def test_candidates_do_not_count_for_the_power_law():
    counts = np.array([6.0, 1e5, 7, 1e5, 8, 1e5, 1e5, 1e5, 9, 1e5])
    listed = counts < 1e5
    alone = released(counts[listed], known=listed[listed], thresholded=listed[listed])
    assert released(counts, thresholded=listed).tail_exponent == alone.tail_exponent


EVIDENCE = Evidence(
    LAYOUT,
    released(1000 * SHARES),
    Measured(50 * SHARES, 50, 2.0),
    Reported(7000 * SHARES, 7000, Response.of(slack_free(LIST, 4, "0.85"))),
)


def test_evidence_can_be_split_by_group():
    assert EVIDENCE.users == 8050
    opt_in, clients = EVIDENCE.of_opt_in(), EVIDENCE.of_clients()
    assert (opt_in.released, opt_in.measured, opt_in.reported) == (EVIDENCE.released, EVIDENCE.measured, None)
    assert (clients.released, clients.measured, clients.reported) == (None, None, EVIDENCE.reported)
    assert (opt_in.users, clients.users, Evidence(LAYOUT).users) == (1050, 7000, 0)
    assert [len(e.pulls(SHARES)) for e in (EVIDENCE, opt_in, clients, Evidence(LAYOUT))] == [3, 2, 1, 0]


def test_less_trust_reduces_the_opt_in_users_information_only():
    half = EVIDENCE.trusting_opt_in(np.full(10, 0.5))
    for before, after, factor in zip(EVIDENCE.pulls(SHARES), half.pulls(SHARES), (0.5, 0.5, 1.0), strict=True):
        np.testing.assert_allclose(after.information, factor * before.information)
    assert half.of_clients() == EVIDENCE.of_clients()
    none = EVIDENCE.trusting_opt_in(np.zeros(10))
    for pull in none.of_opt_in().pulls(SHARES):
        assert not pull.score.any()
        assert not pull.information.any()
        assert pull.common is None or not pull.common.any()
    whole = EVIDENCE.trusting_opt_in(np.ones(10))
    np.testing.assert_allclose(whole.pulls(SHARES)[0].score, EVIDENCE.pulls(SHARES)[0].score)
    assert Evidence(LAYOUT).trusting_opt_in(np.ones(10)) == Evidence(LAYOUT)
