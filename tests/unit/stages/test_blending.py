from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from blender_dp import HeadList
from blender_dp.stages import ClientEstimate, OptInEstimate, blend
from blender_dp.stages.blending import optimal_weight, project_to_simplex
from blender_dp.stages.layout import Estimate

VECTORS = st.lists(st.floats(-2, 2, allow_subnormal=False), min_size=1, max_size=12).map(np.array)


def estimates(
    opt_in: list[float], client: list[float], variances: tuple[float, float]
) -> tuple[OptInEstimate, ClientEstimate]:
    o = Estimate(np.array(opt_in), np.where(np.isnan(opt_in), np.nan, variances[0]))
    c = Estimate(np.array(client), np.full(len(client), variances[1]))
    return OptInEstimate(HeadList.of([]), o, o), ClientEstimate(c, c, 1000)


def test_the_average_leans_towards_the_group_with_less_variance():
    blended = blend(*estimates([0.4, 0.6], [0.2, 0.8], (3e-4, 1e-4)), project=False).cells
    assert blended.weight == pytest.approx([0.25, 0.25])
    assert blended.share == pytest.approx([0.25, 0.75])
    assert blended.variance == pytest.approx([0.75e-4, 0.75e-4])  # σ²σ²/(σ²+σ²)


def test_without_opt_in_estimates_the_clients_decide():
    blended = blend(*estimates([0.4, np.nan], [0.2, 0.1], (1e-4, 1e-4)), project=False).cells
    assert blended.weight == pytest.approx([0.5, 0])
    assert blended.share == pytest.approx([0.3, 0.1])
    assert blended.variance == pytest.approx([0.5e-4, 1e-4])


def test_single_items_are_blended_like_their_queries(item_release):
    for record, query in zip(item_release.records, item_release.queries, strict=True):
        assert (record.query, record.url) == (query.query, None)
        assert (record.share, record.variance, record.opt_in_weight) == (query.share, query.variance, query.opt_in_weight)
        assert 0 < record.opt_in_weight < 1


def test_the_projection_is_optional():
    groups = estimates([-0.1, 0.7], [0.0, 0.9], (1e-4, 1e-4))
    assert blend(*groups, project=False).cells.share == pytest.approx([-0.05, 0.8])
    assert blend(*groups, project=True).cells.share == pytest.approx([0.075, 0.925])


@given(st.floats(1e-9, 1), st.floats(1e-9, 1), st.floats(0, 1))
def test_no_other_weight_has_less_variance(opt_in, client, other):
    best = optimal_weight(np.array([opt_in]), np.array([client]))[0]

    def variance(w: float) -> float:
        return w**2 * opt_in + (1 - w) ** 2 * client

    assert variance(best) <= variance(other) * (1 + 1e-12)


def test_two_groups_without_variance_get_equal_weights():
    assert optimal_weight(np.zeros(1), np.zeros(1)) == 0.5


@given(VECTORS)
def test_a_projection_is_a_distribution(values):
    projected = project_to_simplex(values)
    assert projected.sum() == pytest.approx(1)
    assert (projected >= 0).all()
    np.testing.assert_allclose(project_to_simplex(projected), projected, atol=1e-12)


@given(VECTORS, st.integers(0, 2**32 - 1))
def test_no_other_distribution_is_closer(values, seed):
    weights = np.array([(seed >> (3 * i) & 7) + 0.5 for i in range(values.size)])
    other = weights / weights.sum()
    distance = np.linalg.norm(values - project_to_simplex(values))
    assert distance <= np.linalg.norm(values - other) + 1e-9


def test_the_projection_matches_an_optimiser():
    values = np.array([0.5, 0.3, -0.2, 0.9, 0.0])
    found = minimize(
        lambda x: ((x - values) ** 2).sum(),
        np.full(5, 0.2),
        bounds=[(0, 1)] * 5,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
    )
    np.testing.assert_allclose(project_to_simplex(values), found.x, atol=1e-4)
