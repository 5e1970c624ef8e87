"""Errors in the papers that a short calculation shows: docs/papers-to-code.md lists them. Nothing here is random."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import factorial, prod

import numpy as np
import pytest

from blender_dp import Entropy, HeadList
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.stages import calibrate, denoise
from blender_dp.stages.calibration import sample_variance
from blender_dp.stages.response import Response
from blender_dp_device.channel import Channel

LIST = HeadList.of([("q", "u")])
CHANNEL = Channel.of(LIST, Fraction(2), Fraction(1, 10**5), Fraction(1, 2))
SHARES = np.array([0.3, 0.2, 0.5])  # ⟨q, u⟩, ⟨q, ⋆⟩, ⟨⋆, ⋆⟩
CLIENTS = 4


def slopes():
    """t - s, and c and d of Theorem 3.6 for the cell ⟨q, u⟩."""
    response = Response.of(CHANNEL)
    t, s, false_url = response.query_truth, response.query_lie, response.false_url[0]
    return t - s, s / 2 - t * false_url, t * (1 - false_url) - t * false_url


def outcomes():
    """Every count of the reports of all clients, with its probability."""
    reported = Response.of(CHANNEL)
    t, s, lie = reported.query_truth, reported.query_lie, reported.false_url[0]
    q = SHARES[0] + SHARES[1]
    first, second = (t * (a * (1 - lie) + b * lie) + s / 2 * (1 - q) for a, b in (SHARES[:2], SHARES[1::-1]))
    r = (first, second, 1 - first - second)
    for counts in product(range(CLIENTS + 1), repeat=3):
        if sum(counts) == CLIENTS:
            ways = factorial(CLIENTS) / prod(map(factorial, counts))
            yield np.array(counts), ways * prod(p**n for p, n in zip(r, counts, strict=True))


def test_theorem_3_6_corrects_one_of_its_terms_twice():
    """Bessel's factor n / (n - 1) is applied to the whole bracket, but the query's variance inside it already has it.

    Over all possible reports, the stated variance is too large by exactly that term; it matters for a handful of clients.
    """
    weight = np.array([p for _, p in outcomes()])
    estimates = [denoise(counts, CHANNEL) for counts, _ in outcomes()]
    share, stated, of_query = (
        np.array([getattr(getattr(one, level), what)[0] for one in estimates])
        for level, what in (("cells", "share"), ("cells", "variance"), ("queries", "variance"))
    )
    assert weight.sum() == pytest.approx(1)
    assert weight @ share == pytest.approx(SHARES[0])  # Observation 3.4: unbiased
    real = weight @ (share - SHARES[0]) ** 2
    _, c, d = slopes()
    twice = (weight @ of_query) * c**2 / d**2 / (CLIENTS - 1)
    assert weight @ stated == pytest.approx(real + twice, rel=1e-12)
    assert twice > 0.001 * real


def test_the_proof_of_theorem_3_6_has_a_wrong_sign():
    """It continues with r̂ - p̂_q · c. The estimate is r̂ + p̂_q · c up to a constant, as the theorem's result assumes."""
    _, c, d = slopes()
    s = Response.of(CHANNEL).query_lie
    estimate, r = denoise(np.array([7, 2, 11]), CHANNEL), 7 / 20
    share, of_query = estimate.cells.share[0], estimate.queries.share[0]
    assert share * d == pytest.approx(r + c * of_query - s / 2)
    assert share * d != pytest.approx(r - c * of_query - s / 2, rel=0.01)


def test_theorem_4_of_2017_divides_by_the_share_itself():
    """The statement has |p̂| where its own proof ends with |D_T|; as printed, the variance of a share is nearly 1."""
    p, n, b = 0.02, 1300, 0.5
    printed = n / (n - 1) * (p * (1 - p) / abs(p) + 2 * (b / n) ** 2)
    assert printed > 1000 * sample_variance(np.array([p]), n, 2 * b**2)[0]


def test_a_share_below_zero_has_a_negative_variance_by_theorem_3_5():
    p, n, b = -0.001, 1300, 0.5
    assert p * (1 - p) / (n - 1) + 2 * b**2 / (n * (n - 1)) < 0
    assert sample_variance(np.array([p]), n, 2 * b**2)[0] > 0  # `paper` clips the share, inside the variance only


def test_the_groups_estimate_different_quantities_of_a_query():
    """Opt-in users count the listed URLs of a query, clients all of them. So many users that noise does not matter."""
    counts = (SHARES * 10**12).astype(np.int64)
    opt_in = calibrate(counts, LIST, LaplaceHistogram.of(4), 1, Entropy.seeded("two quantities"))
    r = sum(p * n for n, p in outcomes()) / CLIENTS
    client = denoise((r * 10**12).astype(np.int64), CHANNEL)
    assert opt_in.queries.share[0] == pytest.approx(SHARES[0], abs=1e-6)
    assert client.queries.share[0] == pytest.approx(SHARES[0] + SHARES[1], abs=1e-6)


def test_two_columns_of_the_2017_table_contradict_each_other():
    """Figure 9: Σ_u p̂_C is p̂_C of the query, for any reports. The 2017 paper prints .0325 and .0073 for yahoo."""
    for counts, _ in outcomes():
        estimate = denoise(counts, CHANNEL)
        assert estimate.cells.share[:2].sum() == pytest.approx(estimate.queries.share[0])
