from __future__ import annotations

import numpy as np
import pytest

from blender_dp.parameters import Parameters
from blender_dp.planning.cutoff import on_final_list
from blender_dp.planning.listing import Length
from blender_dp.planning.noisy_counts import Mixed, NoisyCounts
from blender_dp.planning.planned_list import planned_list
from blender_dp.planning.setting import Setting
from blender_dp.planning.sources import outline_of
from blender_dp.sampling import Entropy
from tests.unit.planning.shapes import outline

RUNS = 10_000
SHAPES = {
    "steep": np.geomspace(0.1, 1e-4, 300),
    "a power law": np.arange(1.0, 1001) ** -1 / 8,
    "nearly flat": np.arange(1.0, 201) ** -0.3 / 80,
    "flat": np.full(100, 0.01),
    "twenty, and many rare ones": np.append(np.full(20, 0.02), np.full(400, 0.0015)),
}


def remaining(listed: np.ndarray, shares: np.ndarray, users: float, noise: float, most: int) -> np.ndarray:
    """As if counts did not depend on which queries are listed."""

    def noisy_counts(queries: np.ndarray) -> Mixed:
        means = users * shares[queries]
        counts = NoisyCounts(means - 1000 * np.sqrt(means + noise), means, means + noise)
        return Mixed(counts, counts, np.ones(queries.size))

    return on_final_list(listed, shares, noisy_counts, most, Length.of(listed, most).mean)


def test_without_a_surplus_nothing_is_cut_off():
    listed = np.array([0.2, 0.1, 0.1])
    assert remaining(listed, np.array([0.3, 0.2, 0.1]), 1000, 2.0, 5) is listed


@pytest.mark.parametrize(
    ("likely", "queries", "most"), [(0.33, 3, 1), (0.2, 10, 2), (0.9, 2, 1), (0.6, 5, 3), (0.25, 40, 10)]
)
def test_a_list_that_is_sometimes_too_long_is_cut_off(likely: float, queries: int, most: int):
    """Their counts are so different that the order is certain: the number of listed ones before each is binomial."""
    listed = np.full(queries, likely)
    before = np.zeros(queries + 1)
    before[0], exact = 1.0, []
    for _ in range(queries):
        exact.append(likely * before[:most].sum())
        before = before * (1 - likely) + np.append(0.0, before[:-1]) * likely
    found = remaining(listed, np.geomspace(0.5, 0.05, queries), 1e9, 4.0, most)
    assert found == pytest.approx(exact, abs=0.06)
    assert found.sum() == pytest.approx(sum(exact), rel=1e-6)


def test_as_many_queries_are_expected_as_fit():
    shares = np.geomspace(0.1, 1e-4, 300)
    found = remaining(np.full(300, 0.9), shares, 10_000, 2.0, 50)
    assert found.sum() == pytest.approx(50, rel=1e-3)
    assert found[0] == pytest.approx(0.9)
    assert (np.diff(found) <= 1e-12).all()
    assert found[-1] < 1e-6


@pytest.mark.parametrize("users", [1e6, 1e8, 1e10])
@pytest.mark.parametrize("shape", ["yandex", "zipf:1.8", "aol"])
def test_any_number_of_users_is_possible(users: float, shape: str):
    """The seed is fixed; another one would shift a frequency by more than 0.08 with a probability of 5e-6 (Hoeffding)."""
    shares = outline_of(shape).query_shares[:3000]
    counts = np.random.default_rng(7).normal(users * shares, np.sqrt(users * shares + 4), (1000, shares.size))
    on_list = np.bincount(np.argpartition(-counts, 49)[:, :50].ravel(), minlength=shares.size) / 1000
    assert remaining(np.ones(shares.size), shares, users, 4.0, 50) == pytest.approx(on_list, abs=0.09)


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 3, 40])
@pytest.mark.parametrize("likely", [0.5, 1.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_agrees_with_simulated_counts(shape: str, likely: float, most: int):
    """The seed is fixed; another one would shift a frequency by more than 0.03 with a probability of 3e-8 (Hoeffding)."""
    rng = np.random.default_rng(7)
    shares = SHAPES[shape]
    counts = rng.poisson(5_000 * shares, (RUNS, shares.size)) + rng.normal(0, 2.0, (RUNS, shares.size))
    is_listed = rng.random(counts.shape) < likely
    top = np.argpartition(np.where(is_listed, -counts, np.inf), most - 1)[:, :most]
    on_list = np.bincount(top[np.take_along_axis(is_listed, top, axis=1)], minlength=shares.size) / RUNS
    assert remaining(np.full(shares.size, likely), shares, 5_000, 4.0, most) == pytest.approx(on_list, abs=0.04)


def plateaus() -> Setting:
    shape = outline("plateaus", np.append(np.full(20, 0.02), np.full(400, 0.0015)), 3, 1.0, 30_000)
    return Setting(shape, 30_000, 0.15, Parameters(epsilon=4, delta="1e-5", max_queries=30))


def power(profile: str) -> Setting:
    parameters = Parameters(epsilon=4, delta="1e-6", max_queries=50, profile=profile)
    return Setting(outline_of("zipf:0.7"), 1_000_000, 0.1, parameters)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "tolerance"),
    [(plateaus(), 0.03), (power("tight"), 0.05), (power("paper"), 0.07)],
    ids=["plateaus", "tight", "paper"],
)
def test_it_agrees_with_planned_lists(setting: Setting, tolerance: float):
    """Queries are ranked by the counts of their listed records, and those have more users than a record on average.

    The seeds are fixed. The standard error of a mean over five ranks is below 0.015.
    """
    runs = 300
    lists = [planned_list(setting, setting.collection, str(seed), Entropy.seeded(f"cutoff {seed}")) for seed in range(runs)]
    found = np.concatenate([one.ranks[one.listed.queries] for one in lists])
    simulated = np.bincount(found, minlength=setting.head)[:150] / runs
    by_rank = [values[:150].reshape(-1, 5).mean(axis=1) for values in (setting.on_final_list, simulated)]
    assert by_rank[0] == pytest.approx(by_rank[1], abs=tolerance)
