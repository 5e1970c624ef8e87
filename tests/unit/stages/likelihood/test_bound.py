from __future__ import annotations

import numpy as np
import pytest

from blender_dp import HeadList
from blender_dp.stages.layout import Layout
from blender_dp.stages.likelihood import Evidence, Measured, Reported
from blender_dp.stages.likelihood.bound import among_all, cramer_rao
from blender_dp.stages.response import Response
from blender_dp_device.channel.subset import slack_free

ITEM = HeadList.of([("app", None)])
LAYOUT = Layout(ITEM.url_counts)
SHARES = np.array([0.3, 0.7])


def test_the_bound_of_a_count_without_noise():
    """p(1 - p)/n as an estimate for a population, and 0 as an estimate for the n users themselves."""
    cells, queries = cramer_rao(Evidence(LAYOUT, measured=Measured(np.zeros(2), 400, 0.0)), SHARES)
    assert cells == pytest.approx([0, 0], abs=1e-12)
    assert queries == pytest.approx([0, 0], abs=1e-12)


def test_the_bound_of_noisy_counts_of_both_cells():
    """Two independent counts of variance np + v and n(1 - p) + v about one number."""
    cells, queries = cramer_rao(Evidence(LAYOUT, measured=Measured(np.zeros(2), 400, 50.0)), SHARES)
    wanted = 1 / (400**2 * (1 / (120 + 50) + 1 / (280 + 50))) - 0.3 * 0.7 / 400
    assert cells == pytest.approx([wanted] * 2)
    assert queries == pytest.approx([wanted] * 2)


@pytest.mark.parametrize("epsilon", ["0.5", "2", "4"])
def test_the_bound_of_randomised_response(epsilon):
    """Binomial: r(1 - r)/(n (t - s)²), less p(1 - p)/n, with r = s + (t - s)p."""
    response = Response.of(slack_free(ITEM, epsilon, "0.85"))
    t, s, n = response.query_truth, response.query_lie, 10_000
    r = s + (t - s) * 0.3
    cells, queries = cramer_rao(Evidence(LAYOUT, reported=Reported(np.zeros(2), n, response)), SHARES)
    wanted = r * (1 - r) / (n * (t - s) ** 2) - 0.3 * 0.7 / n
    assert cells == pytest.approx([wanted] * 2)
    assert queries == pytest.approx([wanted] * 2)


def test_the_sampling_variance_of_the_users_is_subtracted_down_to_zero():
    variance, shares = np.array([1e-3, 1e-5]), np.array([0.5, 0.1])
    assert among_all(variance, shares, 1000) == pytest.approx([1e-3 - 0.25e-3, 0])
    assert among_all(variance, shares, 1000, np.array([1e-4, 0.0])) == pytest.approx([1e-3 - 0.15e-3, 0])


def test_two_groups_have_more_information_than_either():
    response = Response.of(slack_free(ITEM, 1, "0.85"))
    whole = Evidence(LAYOUT, measured=Measured(np.zeros(2), 400, 50.0), reported=Reported(np.zeros(2), 10_000, response))
    both, opt_in, clients = (cramer_rao(e, SHARES)[0][0] for e in (whole, whole.of_opt_in(), whole.of_clients()))
    assert both < min(opt_in, clients)
