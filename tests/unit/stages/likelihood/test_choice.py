from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp import Blender, HeadList
from blender_dp.mechanisms.subset_response.best_size import best_size
from blender_dp.stages.likelihood import Fit, fit
from blender_dp.stages.likelihood.choice import likely_best, predicted_error, predicted_variances
from blender_dp.stages.likelihood.evidence import Evidence
from blender_dp.stages.response import Response
from blender_dp_device.channel.subset import slack_free
from tests.unit.stages.likelihood.test_fit import LISTS, noiseless, some_shares

LONG = HeadList.of((f"q{i:03}", "u") for i in range(300))


def opt_in(head_list: HeadList, users: int = 1000) -> tuple[Evidence, Fit]:
    known = noiseless(head_list, some_shares(head_list), users).of_opt_in()
    return known, fit(known, 0.005)


def responses(head_list: HeadList, epsilon: float, sizes: list[int]) -> list[Response]:
    return [Response.of(slack_free(head_list, epsilon, "0.9", size)) for size in sizes]


def test_long_lists_at_small_epsilon_get_longer_reports():
    known, guess = opt_in(LONG)
    size = best_size(301, 0.9 * 0.5)
    assert size > 50
    assert likely_best(known, guess, 10**8, responses(LONG, 0.5, [1, size])) == 1
    one, many = (predicted_error(known, guess, 10**8, r) for r in responses(LONG, 0.5, [1, size]))
    assert many < 0.8 * one


def test_of_equally_good_designs_the_shorter_report_is_chosen():
    """Two clients provide no information either way, so the error is the same, in any order."""
    known, guess = opt_in(LONG)
    assert likely_best(known, guess, 2, responses(LONG, 0.5, [100, 1, 50])) == 1
    assert likely_best(known, guess, 2, responses(LONG, 0.5, [1, 50, 100])) == 0


def test_short_lists_at_large_epsilon_get_single_queries():
    known, guess = opt_in(LISTS["records"])
    assert likely_best(known, guess, 100_000, responses(LISTS["records"], 6, [2, 1])) == 1


def test_of_reports_of_the_same_length_the_best_wins():
    known, guess = opt_in(LISTS["records"])
    made = [Response.of(slack_free(LISTS["records"], 4, f_c)) for f_c in ("0.2", "0.85", "0.3")]
    errors = [predicted_error(known, guess, 100_000, response) for response in made]
    assert likely_best(known, guess, 100_000, made) == int(np.argmin(errors)) == 1


@given(st.integers(2, 10**7), st.integers(2, 10), st.sampled_from(["0.3", "1", "4"]), st.integers(1, 2))
def test_more_clients_never_increase_the_error(clients, times, epsilon, size):
    head_list = LISTS["records"]
    known, guess = opt_in(head_list)
    response = Response.of(slack_free(head_list, epsilon, "0.9", size))
    fewer, more = (predicted_variances(known, guess, n, response) for n in (clients, times * clients))
    for few, many in zip(fewer, more, strict=True):
        assert (many <= few * (1 + 1e-6) + 1e-18).all()
    assert predicted_error(known, guess, times * clients, response) <= predicted_error(known, guess, clients, response) * (
        1 + 1e-6
    )


def test_a_single_item_counts_once():
    """Its record is its query: only the queries' errors are added up."""
    known, guess = opt_in(LISTS["single items"])
    response = Response.of(slack_free(LISTS["single items"], 2, "0.85"))
    _, query_variance = predicted_variances(known, guess, 1000, response)
    assert predicted_error(known, guess, 1000, response) == pytest.approx(np.sqrt(query_variance[:-1]).sum())


def test_the_predicted_variance_is_the_one_that_the_fit_states():
    """With reports as expected, the prediction is the variance of the fit to them."""
    head_list = LISTS["records"]
    whole = noiseless(head_list, some_shares(head_list), 10**6)
    known = whole.of_opt_in()
    variance, query_variance = predicted_variances(known, fit(known, 1e-5), 10**6, whole.reported.response)
    found = fit(whole, 1e-5)
    np.testing.assert_allclose(query_variance, found.query_variance, rtol=0.02)
    np.testing.assert_allclose(variance, found.variance, rtol=0.05)


def test_an_explicit_share_and_size_are_used():
    blender = Blender(epsilon=1, delta=1e-5, f_c="0.7", subset_size=3)
    (design,) = blender.collection.randomiser.designs(blender.parameters, LONG)
    assert (float(design.f_c), design.size) == (0.7, 3)
