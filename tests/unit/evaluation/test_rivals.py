from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from blender_dp import Entropy
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.rivals import local_hashing, query_ndcg

COUNTS = [40_000, 30_000, 20_000, 10_000]
POPULATION = Population.of_counts(pa.table({"query": list("abcd"), "count": COUNTS}), 200_000)


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_local_hashing_is_unbiased_with_its_known_variance(epsilon):
    """300 estimates of four queries: means within 5 standard errors, and the pooled variance within 40 % (1e-6)."""
    entropy = Entropy.seeded(f"hashing {epsilon}")
    runs = [local_hashing(POPULATION, epsilon, 4, entropy) for _ in range(300)]
    truth, estimates = runs[0][0], np.array([one for _, one in runs])
    assert truth.tolist() == [0.2, 0.15, 0.1, 0.05]
    g = round(np.exp(epsilon)) + 1
    p, q = np.exp(epsilon) / (np.exp(epsilon) + g - 1), 1 / g
    variance = (truth * p * (1 - p) + (1 - truth) * q * (1 - q)) / 200_000 / (p - q) ** 2
    assert (np.abs(estimates.mean(axis=0) - truth) < 5 * np.sqrt(variance / 300)).all()
    assert 0.75 < (estimates.var(axis=0) / variance).mean() < 1.25


def test_only_the_candidates_are_estimated():
    truth, estimates = local_hashing(POPULATION, 2.0, 2, Entropy.seeded("few"))
    assert truth.size == estimates.size == 2


def test_a_perfect_ranking_scores_1_and_a_reversed_one_less():
    truth = np.array([0.4, 0.3, 0.2, 0.1])
    assert query_ndcg(truth, truth, 3) == pytest.approx(1)
    assert query_ndcg(truth, -truth, 3) < query_ndcg(truth, truth[[1, 0, 2, 3]], 3) < 1
