from __future__ import annotations

import numpy as np
import pytest

from blender_dp.mechanisms.listing_by_count import by_count
from blender_dp.parameters import Parameters
from blender_dp.pipeline.collection import Collection
from blender_dp.planning.noisy_counts import NoisyCounts, by_calibration, by_discovery
from blender_dp.sampling import Entropy

USERS, RUNS = 5_000, 4_000


@pytest.mark.parametrize("profile", ["tight", "paper"])
def test_noisy_counts_of_listed_queries_are_those_of_the_mechanisms(profile: str):
    """Beyond 4.9 standard errors a false alarm has a probability below 1e-6."""
    made = Collection(Parameters(epsilon=4, delta="1e-5", profile=profile))
    shares, rng = np.array([0.002, 0.001, 0.0005]), np.random.default_rng(3)
    counts = rng.binomial(USERS, shares, (RUNS, 3)).ravel()
    held = np.flatnonzero(counts)
    selected = made.discovery.selector(Entropy.seeded("noisy counts")).select(counts[held])
    rows = held[selected.rows]
    values = np.zeros(counts.size)
    of_count = by_count(made.discovery)
    if profile == "tight":
        values[rows] = selected.noisy_counts
        found = by_discovery(shares, USERS, of_count, made.discovery.noise.variance)
    else:
        noise = made.calibration.noise.variance
        values[rows] = rng.binomial(300, np.tile(shares, RUNS)[rows])
        values[rows] += rng.normal(0, noise**0.5, rows.size)
        found = by_calibration(shares, 300, USERS, of_count, noise)
    is_listed = np.isin(np.arange(counts.size), rows).reshape(RUNS, 3)
    totals = values.reshape(RUNS, 3).sum(axis=1)
    exactly, several = is_listed.sum(axis=1) == 1, is_listed.sum(axis=1) > 1
    mixed = found.given_listed(np.array([0]))
    assert mixed.alone[0] == pytest.approx(exactly.sum() / is_listed.any(axis=1).sum(), abs=0.04)
    for part, rows in ((mixed.one, exactly), (mixed.several, several)):
        drawn = totals[rows]
        assert part.means[0] == pytest.approx(drawn.mean(), abs=4.9 * drawn.std() / drawn.size**0.5)
        assert part.variances[0] == pytest.approx(drawn.var(), rel=4.9 * (2 / drawn.size) ** 0.5 * 1.5)


def test_counts_have_their_means_variances_and_floor():
    counts = NoisyCounts(np.array([7.0, 20.0]), np.array([10.0, 40.0]), np.array([6.0, 50.0]))
    steps = np.arange(0.025, 120.0, 0.05)
    above = counts.above(steps)
    assert above[0, 7 * 20 - 1] == 1 > above[0, 8 * 20]
    means = above.sum(axis=1) * 0.05
    assert means == pytest.approx([10.0, 40.0], rel=0.01)
    assert 2 * (steps * above).sum(axis=1) * 0.05 - means**2 == pytest.approx([6.0, 50.0], rel=0.05)
    assert counts.above(counts.quantiles(np.array([1.0]))[:1, 0])[0, 0] == pytest.approx(0.1587, abs=1e-3)
