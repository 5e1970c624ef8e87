from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from blender_dp import Entropy, HeadList, ParameterError
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.stages import discover
from blender_dp.stages.discovery import record_cells, with_candidates

MECHANISM = LaplaceThreshold.of(Fraction(4), Fraction(1, 10**5))


def batch(*rows: tuple[str, str | None, int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"query": q, "url": u, "count": n} for q, u, n in rows])


def test_frequent_records_of_several_batches_are_listed(entropy):
    found = discover([batch(("b", "x", 900), ("rare", "x", 1)), batch(("a", "y", 800), ("b", "w", 700))], MECHANISM, entropy)
    assert found.head_list.entries == (("a", ("y",)), ("b", ("w", "x")))
    assert found.noisy_counts == pytest.approx([800, 700, 900], abs=20)


def test_the_order_of_the_counts_does_not_matter(entropy):
    """The engine's order depends on unlisted records; the order of the result must not."""
    found = discover([batch(("b", "x", 900), ("a", "y", 800), ("b", "w", 700))], MECHANISM, entropy)
    assert list(found.head_list.records()) == [("a", "y"), ("b", "w"), ("b", "x")]
    assert found.noisy_counts == pytest.approx([800, 700, 900], abs=20)


@pytest.mark.parametrize("kind", [pa.null(), pa.string(), pa.large_string()])
def test_counts_without_urls_make_a_list_of_single_items(entropy, kind):
    counts = [
        pa.record_batch({"query": queries, "url": pa.nulls(2, kind), "count": numbers})
        for queries, numbers in ((["b", "rare"], [900, 1]), (["a", "c"], [800, 700]))
    ]
    found = discover(counts, MECHANISM, entropy)
    assert found.head_list.entries == (("a", ()), ("b", ()), ("c", ()))
    assert found.head_list.levels == 1
    assert found.noisy_counts == pytest.approx([800, 900, 700], abs=20)


def test_mixing_records_with_and_without_urls_is_refused(entropy):
    with pytest.raises(ParameterError, match="some have a URL and some do not"):
        discover([batch(("a", "x", 900), ("b", None, 900))], MECHANISM, entropy)


def test_no_counts_give_an_empty_list(entropy):
    assert len(discover([], MECHANISM, entropy).head_list) == 0
    assert len(discover([batch(("a", "x", 1))], MECHANISM, entropy).head_list) == 0


def test_counts_of_narrow_integer_types_are_accepted(entropy):
    narrow = pa.RecordBatch.from_arrays(
        [pa.array(["a"]), pa.array(["x"]), pa.array([120], pa.int8())], ["query", "url", "count"]
    )
    assert discover([narrow], MECHANISM, entropy).head_list.queries == ("a",)


def test_a_seed_repeats_discovery():
    rows = batch(*((f"q{i}", "x", 1 + i % 12) for i in range(3000)))
    lists = {discover([rows], MECHANISM, Entropy.seeded(8)).head_list.digest for _ in range(3)}
    assert len(lists) == 1


EXACT = LaplaceHistogram.of(60)  # its noise is a hundredth of a record


def test_candidates_are_listed_and_only_other_records_need_the_threshold(entropy):
    """In the list's order, each with its own count: that with calibration's noise, not the one that passed the threshold."""
    found = discover([batch(("b", "x", 900), ("d", "x", 800), ("b", "w", 700))], MECHANISM, entropy)
    public = HeadList.of([("a", "rare"), ("b", "x"), ("c", "none")])
    counts = np.array([2, 0, 900, 55, 0, 77, 1234])  # a rare ⋆, b x ⋆, c none ⋆, ⋆: only records count
    both = with_candidates(found, public, counts, EXACT, entropy)
    assert list(both.head_list.records()) == [("a", "rare"), ("b", "w"), ("b", "x"), ("c", "none"), ("d", "x")]
    assert both.is_candidate.tolist() == [True, False, True, True, False]
    assert both.noisy_counts == pytest.approx([2, 700, 900, 0, 800], abs=20)
    assert both.noisy_counts[[0, 2, 3]] == pytest.approx([2, 900, 0], abs=1)
    assert not found.is_candidate.any()


def test_discovery_with_candidates_only_or_with_nothing(entropy):
    nothing = discover([], MECHANISM, entropy)
    public = HeadList.of([("a", "rare"), ("c", "none")])
    alone = with_candidates(nothing, public, np.array([2, 0, 0, 0, 9]), EXACT, entropy)
    assert (alone.head_list, alone.is_candidate.tolist()) == (public, [True, True])
    empty = with_candidates(nothing, HeadList.of([]), np.array([9]), EXACT, entropy)
    assert (len(empty.head_list), empty.noisy_counts.size, empty.is_candidate.size) == (0, 0, 0)


def test_single_items_can_be_candidates(entropy):
    found = discover([pa.record_batch({"query": ["b"], "url": pa.nulls(1), "count": [900]})], MECHANISM, entropy)
    both = with_candidates(found, HeadList.of([("a", None), ("b", None)]), np.array([3, 900, 50]), EXACT, entropy)
    assert list(both.head_list.records()) == [("a", None), ("b", None)]
    assert both.noisy_counts == pytest.approx([3, 900], abs=1)
    assert both.is_candidate.tolist() == [True, True]


def test_a_restricted_discovery_keeps_counts_and_flags_together(entropy):
    found = discover([batch(("b", "x", 900), ("d", "x", 800), ("b", "w", 700))], MECHANISM, entropy)
    both = with_candidates(found, HeadList.of([("c", "rare")]), np.array([2, 0, 9]), EXACT, entropy)
    kept = both.restrict(["d", "c", "unknown"])
    assert list(kept.head_list.records()) == [("c", "rare"), ("d", "x")]
    assert kept.noisy_counts == pytest.approx([2, 800], abs=20)
    assert kept.is_candidate.tolist() == [True, False]


def test_the_cells_of_records_exclude_every_star(small_list, item_list):
    assert record_cells(small_list).tolist() == [0, 1, 3]
    assert record_cells(item_list).tolist() == [0, 1, 2]
    assert record_cells(HeadList.of([])).tolist() == []


def test_discovery_works_with_bounded_noise(entropy):
    mechanism = TruncatedGeometric.of(Fraction(1, 10), Fraction(1, 10**5))
    found = discover([batch(("b", "x", 9000), ("rare", "x", 1)), batch(("a", "y", 8000))], mechanism, entropy)
    assert found.head_list.entries == (("a", ("y",)), ("b", ("x",)))
    assert (found.noisy_counts > mechanism.tau).all()
