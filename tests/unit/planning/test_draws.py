from __future__ import annotations

import numpy as np
import pytest

from blender_dp.logs.synthetic import uniform
from blender_dp.parameters import Parameters
from blender_dp.planning import draws
from blender_dp.planning.outline import Outline, Records
from blender_dp.planning.setting import Setting
from blender_dp.sampling import Entropy
from tests.unit.planning.shapes import outline, zipf

SHARES = np.array([0.5, 0.05, 0.001])
USERS = 10_000
REPEATS = 1_200  # standard errors of variances are 4 %; beyond five of them a false alarm has a probability below 1e-6


def setting_of(shape: Outline, users: int = USERS, **parameters) -> Setting:
    return Setting(shape, users, 0.2, Parameters(**{"epsilon": 4, "delta": "1e-5", "max_queries": 5, **parameters}))


def close(found, exact, scale):
    """Whether variances (or covariances) agree to within five standard errors."""
    return np.abs(found - exact) <= 5 * scale * np.sqrt(2 / REPEATS)


def test_users_have_the_moments_of_a_multinomial():
    entropy = Entropy.seeded("users")
    counts = np.array([draws.drawn(USERS, SHARES, entropy) for _ in range(REPEATS)])
    mean, spread = SHARES * USERS, np.sqrt(SHARES * (1 - SHARES) * USERS)
    assert (np.abs(counts.mean(0) - mean) <= 5 * spread / np.sqrt(REPEATS) + 0.01).all()
    exact = USERS * (np.diag(SHARES) - np.outer(SHARES, SHARES))
    assert close(np.cov(counts.T), exact, np.outer(spread, spread))[:2, :2].all()
    assert close(counts.var(0), spread**2, spread**2).all()


@pytest.mark.slow
def test_users_are_distributed_over_the_records_of_their_query():
    entropy, records = Entropy.seeded("records"), Records(np.array([2, 2, 2, 7]), np.array([0.3, 0.15, 0.05, 0.1]))
    totals, sizes = np.array([[4_000, 30], [90, 0]]), np.array([3, 1])
    found = np.array([draws.distributed(totals, records, sizes, entropy) for _ in range(REPEATS)])
    assert (found[:, :, :3].sum(2) == totals[:, 0]).all()
    assert (found[:, :, 3] == totals[:, 1]).all()
    share = np.array([0.6, 0.3, 0.1])
    variance = totals[:, :1] * share * (1 - share)
    assert (np.abs(found[:, :, :3].mean(0) - totals[:, :1] * share) <= 5 * np.sqrt(variance / REPEATS)).all()
    assert close(found[:, :, :3].var(0), variance, variance).all()
    covariance = -totals[:, 0] * share[1] * share[2]
    both = ((found[:, :, 1] - totals[:, 0] * share[1]) * (found[:, :, 2] - totals[:, 0] * share[2])).mean(0)
    assert close(both, covariance, np.sqrt(variance[:, 1] * variance[:, 2])).all()


@pytest.mark.parametrize("sizes", [[1], [2, 1], [5, 1, 8, 3], [64]])
def test_every_user_has_one_of_the_querys_records(sizes):
    sizes, entropy = np.array(sizes), Entropy.seeded("sizes")
    records = Records(np.repeat(np.arange(sizes.size), sizes), uniform(int(sizes.sum()), entropy) ** 8)
    users = np.array([np.arange(sizes.size) * 7, np.arange(sizes.size)[::-1] * 100_000])
    found = draws.distributed(users, records, sizes, entropy)
    assert (found >= 0).all()
    assert np.add.reduceat(found, np.cumsum(sizes) - sizes, axis=1).tolist() == users.tolist()


def test_no_queries_have_no_records():
    nothing = Records(np.empty(0, np.int64), np.empty(0))
    empty = np.empty(0, np.int64)
    assert draws.distributed(np.empty((2, 0), np.int64), nothing, empty, Entropy.seeded(1)).shape == (2, 0)


@pytest.mark.parametrize("largest", [1, 3, 999, 1_000, 5_000])
@pytest.mark.parametrize("max_queries", [1, 5, 200, 400])
def test_the_most_popular_queries_have_at_least_the_count_of_the_last_one(largest, max_queries):
    counts = (uniform(300, Entropy.seeded(f"{largest}")) * (largest + 1)).astype(np.int64)
    setting = setting_of(outline("any", zipf(300, 0.8), 2, 1.0), max_queries=max_queries)
    lowest = np.sort(counts)[::-1][:max_queries][-1]
    assert draws.most_popular(counts, setting).tolist() == (counts >= lowest).tolist()
