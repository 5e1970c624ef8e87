"""Reports drawn from counts have the means, variances and covariances of the channel.

False-alarm rate 1e-6 per check: Z standard errors. Variances are pooled over many cells (or contrasts of queries), so that
a few hundred simulations detect an error of 5 %; the pool counts for half of its size, because cells are correlated.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from blender_dp import Entropy, HeadList
from blender_dp.evaluation.draws import binomial, spread
from blender_dp.evaluation.fast_reports import fast_reports
from blender_dp.stages import Response, simulate
from blender_dp_device.channel.subset import channel_of
from blender_dp_device.records.reporting_list import ChannelSettings
from tests.statistical.checks import Z

QUERIES, TIMES = 60, 300
HEAD = HeadList.of((f"query {i:02}", f"url {j}") for i in range(QUERIES) for j in range(1 + i % 4))
COUNTS = (400_000 / (3 + np.arange(HEAD.cell_count) * 7 % 101)).astype(np.int64)
SETTINGS = {
    "two-stage": ChannelSettings.of(randomiser="two-stage", epsilon=3, delta="1e-5", f_c="0.85", m_c=1),
    "subset of 9": ChannelSettings.of(epsilon=2, f_c="0.9", subset_size=9, m_c=1),
}


def covariance(response: Response, clients: np.ndarray) -> np.ndarray:
    """The exact covariance of how often each query is reported: the sum over clients of one report's."""
    k, w, own = clients.size, response.size, response.query_truth
    others, pairs = k - 1, (k - 1) * (k - 2)
    apart = (own * (w - 1) * (w - 2) + (1 - own) * w * (w - 1)) / pairs
    total = np.zeros((k, k))
    for query, number in enumerate(clients):
        chance = np.full(k, response.query_lie)
        chance[query] = own
        joint = np.full((k, k), apart)
        joint[query, :] = joint[:, query] = own * (w - 1) / others
        np.fill_diagonal(joint, chance)
        total += number * (joint - np.outer(chance, chance))
    return total


@pytest.mark.slow
@pytest.mark.parametrize("rows", [64, 5])  # a list with more queries than rows has clients who share their numbers
@pytest.mark.parametrize("name", SETTINGS)
def test_counts_have_the_moments_of_the_channel(monkeypatch, name, rows):
    monkeypatch.setattr("blender_dp.evaluation.fast_reports._ROWS", rows)
    channel = channel_of(HEAD, SETTINGS[name])
    response, entropy = Response.of(channel), Entropy.seeded(f"fast {name}")
    drawn = np.array([fast_reports(COUNTS, channel, entropy) for _ in range(TIMES)])
    chances = np.array([response.expected(unit) for unit in np.eye(COUNTS.size)])
    mean, variance = COUNTS @ chances, COUNTS @ (chances * (1 - chances))
    assert (drawn.sum(axis=1) == COUNTS.sum() * channel.size).all()
    assert (np.abs(drawn.mean(axis=0) - mean) < Z * np.sqrt(variance / TIMES) + 0.1).all()
    ratio = drawn.var(axis=0, ddof=1) / variance
    assert abs(ratio.mean() - 1) < (error := Z * np.sqrt(2 / TIMES / (ratio.size / 2))) < 0.05, (ratio.mean(), error)
    assert (np.abs(ratio - 1) < Z * np.sqrt(2 / TIMES)).all()
    of_queries = np.array([response.layout.per_query(one) for one in drawn])
    contrasts = np.random.default_rng(1).normal(size=(QUERIES + 1, 2 * QUERIES))
    exact = np.einsum("ic,ij,jc->c", contrasts, covariance(response, response.layout.per_query(COUNTS)), contrasts)
    ratio = (of_queries @ contrasts).var(axis=0, ddof=1) / exact
    assert abs(ratio.mean() - 1) < Z * np.sqrt(2 / TIMES / (QUERIES / 2)), ratio.mean()


@pytest.mark.parametrize("queries", [1, 2, 5])
@pytest.mark.parametrize("name", SETTINGS)
def test_all_clients_may_have_the_same_few_queries(monkeypatch, name, queries):
    monkeypatch.setattr("blender_dp.evaluation.fast_reports._ROWS", 5)
    channel, counts = channel_of(HEAD, SETTINGS[name]), np.zeros_like(COUNTS)
    counts[:queries] = 1_000_000
    reported = fast_reports(counts, channel, Entropy.seeded("few queries"))
    assert reported.sum() == counts.sum() * channel.size
    assert (reported >= 0).all()


@pytest.mark.parametrize("name", [*SETTINGS, "subset of 1"])
@pytest.mark.parametrize("others", [1, 3, 10])
def test_hardly_any_client_may_have_a_listed_query(name, others):
    """Then the number of clients who report ⋆ without having it is near 0, below which a normal number may go."""
    settings = SETTINGS.get(name) or ChannelSettings.of(epsilon=2, f_c="0.9", subset_size=1, m_c=1)
    channel, counts, entropy = channel_of(HEAD, settings), np.zeros_like(COUNTS), Entropy.seeded(f"few {name} {others}")
    counts[-1] = 500_000
    counts[: 2 * others : 2] = 1
    for _ in range(100):
        reported = fast_reports(counts, channel, entropy)
        assert reported.sum() == counts.sum() * channel.size
        assert (reported >= 0).all()


def test_few_clients_are_drawn_one_by_one():
    channel, few = channel_of(HEAD, SETTINGS["two-stage"]), COUNTS // 100
    assert (
        fast_reports(few, channel, Entropy.seeded("same")).tolist()
        == simulate(few, channel, Entropy.seeded("same")).tolist()
    )


@pytest.mark.parametrize(("trials", "p"), [(20, 0.3), (1_000_000, 1e-6), (50, 0.97), (5_000_000, 0.4), (100, 1.0), (7, 0.0)])
def test_binomial_counts_have_their_moments(trials, p):
    times = 20_000
    drawn = binomial(np.full(times, trials), np.full(times, p), Entropy.seeded(f"binomial {trials} {p}"))
    variance = trials * p * (1 - p)
    fourth = variance * (1 + 3 * (trials - 2) * p * (1 - p)) if trials > 2 else 1.0
    assert ((drawn >= 0) & (drawn <= trials)).all()
    assert abs(drawn.mean() - trials * p) <= Z * np.sqrt(variance / times)
    assert abs(drawn.var() - variance) <= Z * np.sqrt(max(fourth - variance**2, 0) / times) + 1 / 12


@pytest.mark.parametrize(("trials", "p"), [(60, 0.3), (130, 0.3), (130, 0.7), (30_000, 1e-3)])
def test_binomial_counts_have_their_quantiles(trials, p):
    """Just below and above the variance from which they are normal: the share of counts below each number."""
    times = 400_000
    drawn = binomial(np.full(times, trials), np.full(times, p), Entropy.seeded(f"quantiles {trials} {p}"))
    exact = stats.binom.cdf(np.arange(trials + 1), trials, p)
    found = np.cumsum(np.bincount(drawn, minlength=trials + 1)) / times
    assert (np.abs(found - exact) <= Z * np.sqrt(exact * (1 - exact) / times) + 0.002).all()
    skewness = (1 - 2 * p) / np.sqrt(trials * p * (1 - p))
    assert abs(stats.skew(drawn) - skewness) <= Z * np.sqrt(6 / times) + 0.01


def test_spreading_is_uniform_and_complete():
    """Each part is binomial; 20,000 blocks give its mean with far less than 5 % error."""
    blocks, total = 20_000, 30
    drawn = spread(np.full(blocks, total), np.full(blocks, 3), Entropy.seeded("spread")).reshape(blocks, 3)
    assert (drawn.sum(axis=1) == total).all()
    assert (np.abs(drawn.mean(axis=0) - 10) < Z * np.sqrt(total * 2 / 9 / blocks)).all()
    assert spread(np.array([4, 0]), np.array([1, 0]), Entropy.seeded("one")).tolist() == [4]
