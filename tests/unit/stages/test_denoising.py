from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from blender_dp import GroupError, HeadList
from blender_dp.stages import denoise
from blender_dp_device.channel import Channel
from tests.device.channel.test_channel import closed_form, positions

LIST = HeadList.of([("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"), ("c", "y"), ("c", "z")])
CHANNEL = Channel.of(LIST, Fraction(4), Fraction(1, 10**5), Fraction("0.85"))
TRUTH = np.array([0.1, 0.05, 0.02, 0.2, 0.03, 0.04, 0.03, 0.02, 0.01, 0.5])


def expected_reports(channel: Channel, truth: np.ndarray) -> np.ndarray:
    matrix = np.array([list(closed_form(channel, *p).values()) for p in positions(channel)], float) / float(channel.words**2)
    return truth @ matrix


def test_expected_reports_yield_the_truth():
    """Unbiased, exactly: the estimator inverts the channel's matrix."""
    n = 10**15
    counts = np.round(n * expected_reports(CHANNEL, TRUTH)).astype(np.int64)
    estimate = denoise(counts, CHANNEL)
    np.testing.assert_allclose(estimate.cells.share, TRUTH, atol=1e-12)
    queries = [TRUTH[:3].sum(), TRUTH[3:5].sum(), TRUTH[5:9].sum(), TRUTH[9]]
    np.testing.assert_allclose(estimate.queries.share, queries, atol=1e-12)


def test_shares_always_add_up_to_one():
    estimate = denoise(np.array([5, 0, 1, 900, 3, 2, 2, 0, 0, 40]), CHANNEL)
    assert estimate.cells.share.sum() == pytest.approx(1)
    assert estimate.queries.share.sum() == pytest.approx(1)
    assert estimate.reports == 953
    assert (estimate.cells.variance >= 0).all()


def test_a_querys_urls_add_up_to_the_query():
    estimate = denoise(np.array([5, 0, 1, 900, 3, 2, 2, 0, 0, 40]), CHANNEL)
    assert estimate.cells.share[:3].sum() == pytest.approx(estimate.queries.share[0])
    assert estimate.cells.share[-1] == pytest.approx(estimate.queries.share[-1])


ITEMS = Channel.of(HeadList.of([("a", None), ("b", None)]), Fraction(4), Fraction(1, 10**5), Fraction("0.85"))


def test_expected_reports_of_single_items_yield_the_truth():
    truth = np.array([0.3, 0.05, 0.65])
    estimate = denoise(np.round(10**15 * expected_reports(ITEMS, truth)).astype(np.int64), ITEMS)
    np.testing.assert_allclose(estimate.cells.share, truth, atol=1e-12)


def test_a_single_item_has_the_estimate_of_its_query():
    counts = np.array([400, 100, 500])
    estimate = denoise(counts, ITEMS)
    assert estimate.cells == estimate.queries
    slope = 1 - 3 * ITEMS.query_step / ITEMS.words  # t - s
    np.testing.assert_allclose(estimate.cells.variance, counts / 1000 * (1 - counts / 1000) / 999 / slope**2)
    assert estimate.cells.share.sum() == pytest.approx(1)


def test_an_empty_list_is_certain():
    channel = Channel.of(HeadList.of([]), Fraction(4), Fraction(1, 10**5), Fraction("0.85"))
    estimate = denoise(np.array([77]), channel)
    assert (estimate.cells.share.tolist(), estimate.cells.variance.tolist(), estimate.reports) == ([1], [0], 77)


@pytest.mark.parametrize("reports", [0, 1])
def test_too_few_reports_are_refused(reports):
    with pytest.raises(GroupError, match="too few for a variance"):
        denoise(np.array([reports, *[0] * 9]), CHANNEL)
