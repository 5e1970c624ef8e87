from __future__ import annotations

import numpy as np
import pytest

from blender_dp.parameters import Parameters
from blender_dp.planning import setting_of
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import Simulated, simulated
from blender_dp.stages.layout import Layout
from blender_dp.stages.likelihood import Evidence, Measured
from blender_dp.stages.likelihood.fit import Fit
from blender_dp.stages.likelihood.own_shares import own_shares, own_variances
from blender_dp.stages.likelihood.unlisted import Expectation
from tests.unit.planning.shapes import SHAPES

USERS, NOISE = 10_000, 20.0
SHARES = np.array([0.2, 0.01, 0.79])  # one query with a URL and unlisted URLs, and ⋆
LAYOUT = Layout((2, 1))


def evidence(counts: np.ndarray) -> Evidence:
    return Evidence(LAYOUT, measured=Measured(counts, USERS, NOISE))


def fitted(counts: np.ndarray, expected: Expectation) -> Fit:
    """The exact posterior of a population's shares, if their sum is left free."""
    precision, drawn = np.array([0, 1 / expected.variance[0], 0]), SHARES / USERS + NOISE / USERS**2
    variance = 1 / (1 / drawn + precision)
    mean = np.array([0, expected.mean[0], 0])
    shares = variance * (counts / USERS / drawn + precision * mean)
    queries = np.array([shares[:2].sum(), shares[2]])
    return Fit(shares, variance, queries, np.array([variance[:2].sum(), variance[2]]), expected, True)


def test_the_own_share_of_unlisted_urls_is_between_what_was_expected_and_what_was_counted():
    """The normal posterior of a count: prior N(m, w) for the share p, N(p, p/n) for the users, and noise on their count."""
    lower, equal = (Expectation(np.array([mean]), np.array([1e-6]), 1.0, 0.0, 1.0) for mean in (0.009, 0.01))
    counts = USERS * SHARES
    drawn, noise = SHARES[1] / USERS, NOISE / USERS**2
    prior = 1e-6 + drawn
    wanted = (0.009 / prior + 0.01 / noise) / (1 / prior + 1 / noise)
    assert own_shares(fitted(counts, lower), evidence(counts))[1] == pytest.approx(wanted, rel=0.01)
    variance = own_variances(fitted(counts, equal), evidence(counts))[0][1]
    assert variance == pytest.approx(1 / (1 / prior + 1 / noise), rel=0.1)


def test_own_shares_are_shares():
    expected = Expectation(np.array([1e-9]), np.array([1e-18]), 1.0, 0.0, 1.0)
    own = own_shares(fitted(np.array([0.0, 5000.0, 5000.0]), expected), evidence(np.array([0.0, 5000.0, 5000.0])))
    assert own.min() >= 0
    assert own.sum() == pytest.approx(1)


def scores(found: Simulated) -> tuple[np.ndarray, np.ndarray]:
    """The errors of records and queries, in units of the stated ones."""
    records, queries = [], []
    for one in found.outcomes:
        cells, of_queries, listed = one.result.blended.cells, one.result.blended.queries, one.listed.record_cells
        records.append(((cells.share - one.truth) / np.sqrt(np.maximum(cells.variance, 1e-18)))[listed])
        queries.append(((of_queries.share - one.query_truth) / np.sqrt(np.maximum(of_queries.variance, 1e-18)))[:-1])
    return np.concatenate(records), np.concatenate(queries)


# All seeds are fixed, so there are no false alarms. With more than 1,000 records, a root mean square has a standard error of
# about 2 %; those of queries also depend on what was presumed about unlisted URLs.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "opt_in", "epsilon"),
    [("Zipf 0.7", 0.99, 4), ("Zipf 1.8", 0.9, 1), ("thirty flat URLs", 0.99, 2), ("one giant query", 0.999, 1)],
)
def test_stated_errors_are_right_if_nearly_everyone_opts_in(shape, opt_in, epsilon):
    setting = Setting(SHAPES[shape], 60_000, opt_in, Parameters(epsilon=epsilon, delta="1e-7", max_queries=50))
    records, queries = scores(simulated(setting, 24))
    assert np.sqrt(np.mean(records**2)) == pytest.approx(1, abs=0.1)
    assert np.mean(np.abs(records) < 1.96) == pytest.approx(0.95, abs=0.025)
    assert np.mean(np.abs(queries) < 1.96) == pytest.approx(0.95, abs=0.05)


@pytest.mark.slow
def test_stated_errors_are_right_if_there_is_little_behind_most_queries():
    """A query whose unlisted URLs seem to have few users used to count more, so that all were expected to have too few."""
    setting = setting_of("yandex", "0.99", None, Parameters(epsilon=4, delta="1e-8", max_queries=500))
    _, queries = scores(simulated(setting, 16))
    assert np.sqrt(np.mean(queries**2)) == pytest.approx(1, abs=0.15)
    assert np.mean(np.abs(queries) < 1.96) == pytest.approx(0.95, abs=0.025)


@pytest.mark.slow
def test_a_few_clients_do_not_overrule_everyone_else():
    """With 60 clients a cell may be in no report at all; that used to count as a certain contradiction."""
    setting = Setting(SHAPES["Zipf 0.7"], 60_000, 0.999, Parameters(epsilon=1, delta="1e-7", max_queries=50))
    found = simulated(setting, 8)
    assert found.expected("query_l1").mean == pytest.approx(found.expected("query_l1", "opt_in").mean, rel=0.1)
