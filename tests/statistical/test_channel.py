"""The shipped code, run as a black box, has the audited channel; false-alarm rate 1e-6 per check."""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from blender_dp import HeadList
from blender_dp.mechanisms.subset_response import SubsetResponse
from blender_dp.mechanisms.two_stage_response import TwoStageResponse
from blender_dp_device.channel import Channel
from blender_dp_device.channel.subset import SubsetChannel, slack_free
from tests.device.channel import test_subset
from tests.device.channel.test_channel import closed_form, positions
from tests.lists import device_for
from tests.statistical.checks import ALARM, Z, assert_counts

LIST = HeadList.of([("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"), ("c", "y"), ("c", "z")])


def probabilities(channel: Channel, query: int, url: int) -> np.ndarray:
    return np.array([float(Fraction(w, channel.words**2)) for w in closed_form(channel, query, url).values()])


@pytest.mark.parametrize("make", [lambda e: Channel.of(LIST, e, "1e-5", "0.85"), lambda e: slack_free(LIST, e, "0.7")])
@pytest.mark.parametrize("epsilon", ["0.5", "2", "4"])
def test_reports_of_many_clients_follow_the_channel(entropy, epsilon, make):
    """LocalAlg with the papers' integers, and with those that spend all of ε."""
    channel = make(Fraction(epsilon))
    mechanism = TwoStageResponse(channel)
    for cell, position in enumerate(positions(channel)):
        reports = mechanism.respond(np.full(300_000, cell, np.int32), entropy)
        assert_counts(np.bincount(reports, minlength=mechanism.cell_count), probabilities(channel, *position))


@pytest.mark.parametrize("randomiser", ["subset", "two-stage"])
def test_reports_of_one_device_with_real_entropy_follow_the_channel(randomiser):
    """Not seeded: this is the operating system's generator, so one failure in a million runs is expected."""
    device = device_for(LIST, epsilon=2, randomiser=randomiser)
    reports = [device.report("c", "y.example").cells[0] for _ in range(60_000)]
    position = LIST.position("c", "https://y.example/")
    assert_counts(np.bincount(reports, minlength=LIST.cell_count), probabilities(device.channel, *position))


def test_the_observed_loss_stays_below_epsilon(entropy):
    """A lower confidence bound of the worst log-ratio, from reports alone: below ε, and near the audit's result."""
    channel = Channel.of(LIST, Fraction(2), Fraction(1, 10**5), Fraction("0.85"))
    mechanism, n = TwoStageResponse(channel), 2_000_000
    reports = [
        np.bincount(mechanism.respond(np.full(n, cell, np.int32), entropy), minlength=mechanism.cell_count)
        for cell in range(10)
    ]
    worst = max(np.log(a[y] / b[y]) - Z * (1 / a[y] + 1 / b[y]) ** 0.5 for a in reports for b in reports for y in range(10))
    assert 1.7 < worst < 2.0


def outcomes(channel: SubsetChannel, query: int, url: int) -> dict[int, float]:
    """The probabilities of all reports of several cells, each numbered by its cells."""
    starts = np.cumsum([0, *channel.url_counts])
    rows = test_subset.closed_form(channel, query, url)
    return {number_of(np.array([starts[q] + u for q, u in report])): float(p) for report, p in rows.items()}


def number_of(cells: np.ndarray) -> np.ndarray:
    """One number for every row of sorted cells."""
    return cells @ (LIST.cell_count ** np.arange(cells.shape[-1]))


def assert_reports(reports: np.ndarray, expected: dict[int, float]) -> None:
    found = np.bincount(number_of(reports.astype(np.int64)), minlength=max(expected) + 1)
    assert found.sum() == found[list(expected)].sum()  # no impossible reports
    assert_counts(found[list(expected)], np.array(list(expected.values())))


@pytest.mark.parametrize(("epsilon", "f_c", "size"), [("0.5", "0.85", 2), ("2", "0.7", 2), ("4", "0.3", 2), ("2", "0.8", 3)])
def test_reports_of_several_queries_follow_the_channel(entropy, epsilon, f_c, size):
    """Compares whole reports, so that dependence between queries, or on a URL, would be detected as well."""
    channel = slack_free(LIST, epsilon, f_c, size)
    mechanism = SubsetResponse(channel)
    for cell, position in enumerate(positions(channel)):
        reports = mechanism.respond(np.full(300_000, cell, np.int32), entropy)
        assert_reports(reports, outcomes(channel, *position))


def test_a_device_that_reports_two_queries_follows_the_channel():
    """Not seeded either."""
    device = device_for(LIST, epsilon=2, f_c="0.7", subset_size=2)
    reports = np.array([device.report("c", "y.example").cells for _ in range(60_000)])
    assert_reports(reports, outcomes(device.channel, *LIST.position("c", "https://y.example/")))


def test_the_observed_loss_of_two_queries_stays_below_epsilon(entropy):
    """As above, over all pairs of records and all reports at once, with bounds as wide as so many comparisons require."""
    mechanism, n = SubsetResponse(slack_free(LIST, 2, "0.7", 2)), 1_000_000
    numbers = LIST.cell_count**2
    reports = [
        np.bincount(number_of(mechanism.respond(np.full(n, cell, np.int32), entropy).astype(np.int64)), minlength=numbers)
        for cell in range(10)
    ]
    wide = NormalDist().inv_cdf(1 - ALARM / (100 * numbers))
    seen = [(a[(a > 0) & (b > 0)], b[(a > 0) & (b > 0)]) for a in reports for b in reports]
    worst = max(float((np.log(a / b) - wide * (1 / a + 1 / b) ** 0.5).max()) for a, b in seen)
    assert 1.9 < worst < 2.0
