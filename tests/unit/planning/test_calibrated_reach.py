from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.planning.calibrated_reach import Reach
from blender_dp.sampling import Entropy

DRAWS = 200_000
SEVERAL = [1, 2, 3, 7]


def positive_sums(noise: np.ndarray) -> np.ndarray:
    return np.maximum(noise, 0).sum(axis=1)


def laplace(records: int, scale: float, draws: int = DRAWS) -> np.ndarray:
    return np.random.default_rng(records).laplace(scale=scale, size=(draws, records))


def alike(count: int, records: int, queries: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full(queries, count), np.full(queries, records)


@pytest.mark.parametrize("records", SEVERAL)
def test_a_number_is_reached_with_the_probability_of_the_positive_noise(records):
    """The sum of j positive Laplace numbers has a gamma distribution."""
    reach = Reach(6.5, records, 2.0)
    missing = (6.5 - np.arange(7)) / 2
    ways = [stats.binom.pmf(j, records, 0.5) * stats.gamma.sf(missing, j) for j in range(1, records + 1)]
    assert reach.weights == pytest.approx([*np.sum(ways, axis=0), 1.0])


def test_every_count_reaches_a_number_that_is_not_positive():
    assert Reach(0.0, 3, 1.0).weights.tolist() == [1.0]
    assert Reach(-5.0, 3, 1.0).weights.tolist() == [1.0]


@pytest.mark.slow
@pytest.mark.parametrize("records", SEVERAL)
@pytest.mark.parametrize("least", [0.5, 3.0, 6.0])
def test_the_noise_is_that_of_queries_that_reach_the_number(records, least):
    """Every comparison is a Kolmogorov-Smirnov test with a false-alarm rate of 1e-6."""
    found = Reach(least + 4, records, 1.5).noise(*alike(4, records, 20_000), Entropy.seeded("noise"))
    assert positive_sums(found).min() >= least * (1 - 1e-12)
    everything = laplace(records, 1.5, 4 * DRAWS)
    exact = everything[positive_sums(everything) >= least]
    assert exact.shape[0] > 5_000
    for judged in (positive_sums, lambda x: x.sum(axis=1), lambda x: x[:, 0], lambda x: x[:, -1], lambda x: x.max(axis=1)):
        assert stats.ks_2samp(judged(found), judged(exact)).pvalue > 1e-6


@pytest.mark.slow
def test_a_query_with_enough_users_has_any_noise():
    found = Reach(4.0, 3, 1.5).noise(*alike(4, 3, 50_000), Entropy.seeded("any"))
    for record in range(3):
        assert stats.kstest(found[:, record], stats.laplace(scale=1.5).cdf).pvalue > 1e-6
    assert np.abs(np.corrcoef(found.T)[np.triu_indices(3, 1)]).max() < 5 / np.sqrt(50_000)


def test_queries_with_different_counts_are_not_mixed_up():
    counts = np.array([0, 3, 10, 0, 9])
    drawn = Reach(9.0, 2, 1.0).noise(np.tile(counts, 500), np.full(2_500, 2), Entropy.seeded("mixed"))
    found = drawn.reshape(500, 5, 2)
    sums = np.maximum(found, 0).sum(axis=2).min(axis=0)
    assert (sums >= np.maximum(9.0 - counts, 0) * (1 - 1e-12)).all()
    assert sums[[2, 4]].max() < 0.1  # nothing is missing


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("mean", [0.5, 8.0, 150.0])
@pytest.mark.parametrize("urls", [1, 3])
def test_so_many_queries_reach_the_number(epsilon, mean, urls):
    """All 400 queries are alike, and listed with nearly all of their records; beyond 4.9 standard deviations."""
    noise, wanted = LaplaceHistogram.of(epsilon).noise, 40.0
    likely = np.tile([0.99, *[0.9] * (urls - 1)], 400)
    means, starts = np.full(400 * urls, mean / urls), np.arange(400) * urls
    reach = Reach.of(means, likely, starts, np.full(400, 2.5), noise.variance, wanted)
    rng, repeats = np.random.default_rng(1), 400
    listed = rng.uniform(size=(repeats, 1_000 * urls)) < np.tile(likely[:urls], 1_000)
    counts = rng.poisson(mean / urls, listed.shape) + rng.laplace(scale=reach.scale, size=listed.shape)
    noisy = (counts * listed).reshape(repeats, 1_000, urls).sum(axis=2)
    reaching = (noisy >= reach.least).sum()
    assert reaching >= repeats * wanted - 4.9 * np.sqrt(repeats * wanted)
    assert reaching < 3 * repeats * wanted  # not many more do
    assert reach.records >= urls
    assert 2 * reach.scale**2 == pytest.approx(noise.variance)


def test_more_queries_reach_a_lower_number():
    means, likely, starts = np.full(100, 10.0), np.full(100, 0.9), np.arange(100)
    numbers = [Reach.of(means, likely, starts, np.full(100, 10.0), 2.0, queries).least for queries in (1, 10, 100, 400)]
    assert numbers == sorted(numbers, reverse=True)
    assert Reach.of(means, likely, starts, np.full(100, 10.0), 2.0, 2_000).least == 0  # more than there are


def test_queries_with_very_many_listed_records_have_no_bound():
    assert Reach.of(np.full(100, 10.0), np.full(100, 0.9), np.zeros(1, np.int64), np.full(1, 10.0), 2.0, 5) is None
