from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from blender_dp import GroupError, HeadList
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.stages import calibrate
from blender_dp.stages.calibration import sample_variance

MECHANISM = LaplaceHistogram.of(Fraction(4))
LIST = HeadList.of([("a", "x"), ("a", "y"), ("b", "x"), ("c", "z")])
#                   a: x     y    ⋆    b: x   ⋆    c: z    ⋆    ⋆
COUNTS = np.array([40_000, 2_000, 500, 9_000, 700, 30_000, 300, 100_000])


def test_the_top_queries_are_kept_and_the_rest_is_added_to_the_star(entropy):
    estimate = calibrate(COUNTS, LIST, MECHANISM, 2, entropy)
    users = COUNTS.sum()
    assert estimate.head_list == LIST.restrict(["a", "c"])
    rest = 100_000 + 500 + 700 + 300 + 9_000  # every unlisted URL, and query b, which was dropped
    expected = np.array([40_000, 2_000, np.nan, 30_000, np.nan, rest]) / users
    np.testing.assert_allclose(estimate.cells.share, expected, atol=30 / users)
    np.testing.assert_allclose(estimate.queries.share, np.array([42_000, 30_000, rest]) / users, atol=30 / users)


def test_all_queries_are_kept_when_there_is_room(entropy):
    estimate = calibrate(COUNTS, LIST, MECHANISM, 10, entropy)
    assert estimate.head_list == LIST
    assert np.isnan(estimate.cells.share[[2, 4, 6]]).all()
    assert estimate.cells.share.size == LIST.cell_count


def test_single_items_are_counted_like_any_record(entropy):
    items, counts = HeadList.of([("a", None), ("b", None), ("c", None)]), np.array([40_000, 9_000, 30_000, 100_000])
    estimate = calibrate(counts, items, MECHANISM, 2, entropy)
    assert estimate.head_list.entries == (("a", ()), ("c", ()))
    np.testing.assert_allclose(estimate.cells.share, np.array([40_000, 30_000, 109_000]) / counts.sum(), atol=1e-3)
    np.testing.assert_array_equal(estimate.queries.share, estimate.cells.share)
    np.testing.assert_array_equal(estimate.queries.variance, estimate.cells.variance)


class Recorder:
    """A substitute for the histogram that records the counts it receives."""

    noise = MECHANISM.noise

    def release(self, counts, _):
        self.counts = counts.copy()
        return counts.astype(float)


@pytest.mark.parametrize("head_list", [LIST, HeadList.of([("a", None), ("b", None)]), HeadList.of([])], ids=str)
def test_a_substitution_moves_two_noisy_counts_by_one(entropy, head_list):
    """The assumption behind the histogram's noise: every record is counted exactly once."""

    def noisy(cell: int) -> np.ndarray:
        counts = np.full(head_list.cell_count, 10)
        counts[cell] += 1
        recorder = Recorder()
        calibrate(counts, head_list, recorder, 5, entropy)
        assert recorder.counts.sum() == counts.sum()
        return recorder.counts

    seen = [noisy(cell) for cell in range(head_list.cell_count)]
    assert all(np.abs(a - b).sum() in {0, 2} for a in seen for b in seen)
    assert seen[0].size == len(list(head_list.records())) + 1


def test_the_variance_of_each_cell_follows_from_its_share(entropy):
    estimate = calibrate(COUNTS, LIST, MECHANISM, 2, entropy)
    expected = sample_variance(estimate.cells.share, int(COUNTS.sum()), MECHANISM.noise.variance)
    np.testing.assert_array_equal(estimate.cells.variance, expected)


def test_variances_follow_theorem_3_5():
    n, noise = 1000, 0.5
    assert sample_variance(np.array([0.2]), n, noise) == pytest.approx(0.2 * 0.8 / (n - 1) + noise / (n * (n - 1)))


def test_a_share_outside_the_unit_interval_is_clipped_in_the_variance_only():
    at_the_edge = sample_variance(np.array([0.0, 1.0]), 100, 0.5)
    np.testing.assert_array_equal(sample_variance(np.array([-0.01, 1.2]), 100, 0.5), at_the_edge)


def test_an_empty_list_leaves_only_the_star(entropy):
    estimate = calibrate(np.array([500]), HeadList.of([]), MECHANISM, 5, entropy)
    assert estimate.cells.share == pytest.approx([1], abs=0.05)
    assert estimate.queries.share == pytest.approx([1], abs=0.05)


@pytest.mark.parametrize("users", [0, 1])
def test_too_few_users_are_refused(entropy, users):
    with pytest.raises(GroupError, match="too few for a variance"):
        calibrate(np.array([users]), HeadList.of([]), MECHANISM, 5, entropy)


def test_the_input_is_not_changed(entropy):
    before = COUNTS.copy()
    calibrate(COUNTS, LIST, MECHANISM, 2, entropy)
    np.testing.assert_array_equal(COUNTS, before)
