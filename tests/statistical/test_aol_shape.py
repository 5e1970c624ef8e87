"""The whole system on the synthetic AOL shape, 20 seeds: the figures that profile `paper` is known for."""

from __future__ import annotations

import numpy as np
import pytest

from blender_dp import Blender, Entropy, Truth, aol_like, score

SEEDS = 20


@pytest.fixture(scope="module")
def runs():
    blender = Blender(epsilon=4, delta=1e-5, max_queries=50)
    results = []
    for seed in range(SEEDS):
        population = aol_like(seed)
        release = blender.run_log(population, 0.05, key=f"key {seed}".encode(), entropy=Entropy.seeded(seed))
        results.append((len(release.head_list), score(release, Truth.of(population))))
    return results


def test_about_49_queries_are_listed(runs):
    assert 47.5 < np.mean([listed for listed, _ in runs]) <= 50


def test_the_clients_query_l1_is_about_017(runs):
    assert np.mean([scores["client"].query_l1 for _, scores in runs]) == pytest.approx(0.017, abs=0.001)


def test_the_blend_is_better_than_each_group(runs):
    means = {
        name: np.mean([[s[name].query_l1, s[name].record_l1, -s[name].ndcg] for _, s in runs], axis=0)
        for name in ("opt-in", "client", "blended")
    }
    assert (means["blended"] < means["opt-in"]).all()
    assert (means["blended"] < means["client"]).all()
    assert means["blended"][0] < 0.0165  # the papers' Figure 13a: below .016
    assert -means["blended"][2] > 0.97
