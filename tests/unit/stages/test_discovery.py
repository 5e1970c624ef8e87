from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from blender_dp import Entropy, ParameterError
from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.stages import discover

MECHANISM = LaplaceThreshold.of(Fraction(4), Fraction(1, 10**5))


def batch(*rows: tuple[str, str | None, int]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"query": q, "url": u, "count": n} for q, u, n in rows])


def test_frequent_records_make_the_list_over_several_batches(entropy):
    found = discover([batch(("b", "x", 900), ("rare", "x", 1)), batch(("a", "y", 800), ("b", "w", 700))], MECHANISM, entropy)
    assert found.head_list.entries == (("a", ("y",)), ("b", ("w", "x")))
    assert found.noisy_counts == pytest.approx([800, 700, 900], abs=20)


def test_the_order_of_the_counts_says_nothing(entropy):
    """The engine's order depends on records that are not listed; the result's must not."""
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


def test_a_mixture_is_refused(entropy):
    with pytest.raises(ParameterError, match="some have a URL and some have none"):
        discover([batch(("a", "x", 900), ("b", None, 900))], MECHANISM, entropy)


def test_nothing_gives_an_empty_list(entropy):
    assert len(discover([], MECHANISM, entropy).head_list) == 0
    assert len(discover([batch(("a", "x", 1))], MECHANISM, entropy).head_list) == 0


def test_narrow_counts_are_widened(entropy):
    narrow = pa.RecordBatch.from_arrays(
        [pa.array(["a"]), pa.array(["x"]), pa.array([120], pa.int8())], ["query", "url", "count"]
    )
    assert discover([narrow], MECHANISM, entropy).head_list.queries == ("a",)


def test_a_seed_repeats_it():
    rows = batch(*((f"q{i}", "x", 1 + i % 12) for i in range(3000)))
    lists = {discover([rows], MECHANISM, Entropy.seeded(8)).head_list.digest for _ in range(3)}
    assert len(lists) == 1
