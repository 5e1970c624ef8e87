from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp import HeadList
from blender_dp.stages import cells_of, count_cells, report
from blender_dp.stages.reporting import simulate
from blender_dp_device.channel import Channel

NAMES = st.sampled_from(["a", "b", "c", "d", "é", "⋆", None])
RECORDS = st.lists(st.tuples(NAMES, NAMES), max_size=30)
QUERIES = st.sampled_from("abcd⋆")
LISTED = st.one_of(
    st.lists(st.tuples(QUERIES, st.sampled_from("abcdé")), max_size=10), st.lists(st.tuples(QUERIES, st.none()), max_size=10)
)


def batch(records: list[tuple[str | None, str | None]], kind: pa.DataType) -> pa.RecordBatch:
    columns = [pa.array([r[i] for r in records], kind) for i in (0, 1)]
    return pa.RecordBatch.from_arrays(columns, ["query", "url"])


@given(LISTED, RECORDS, st.sampled_from([pa.string(), pa.large_string(), pa.string_view()]))
def test_columns_are_mapped_to_the_same_cells_as_single_records(listed, records, kind):
    head_list = HeadList.of(listed)
    starts = [sum(head_list.url_counts[:i]) for i in range(len(head_list.url_counts))]
    expected = [starts[q] + u for q, u in (head_list.position(*record) for record in records)]
    (cells,) = cells_of([batch(records, kind)], head_list)
    assert cells.tolist() == expected
    assert cells.dtype == np.int32


@pytest.mark.parametrize("kind", [pa.null(), pa.string(), pa.large_string()])
def test_single_items_are_mapped_to_the_cell_of_their_query(item_list, kind):
    queries = ["maps", "calculator", None, "weather", "maps"]
    records = pa.record_batch({"query": queries, "url": pa.nulls(len(queries), kind)})
    (cells,) = cells_of([records], item_list)
    assert cells.tolist() == [2, 0, 3, 3, 2]


def test_cells_are_counted_across_batches():
    batches = [np.array([0, 2, 2], np.int32), np.array([], np.int32), np.array([1], np.int32)]
    assert count_cells(batches, 4).tolist() == [1, 1, 2, 0]


@pytest.mark.parametrize("epsilon", ["0.1", "60"])
def test_every_batch_is_reported(entropy, epsilon, small_list):
    channel = Channel.of(small_list, Fraction(epsilon), Fraction(1, 10**6), Fraction(1, 2))
    batches = [np.arange(6, dtype=np.int32), np.full(50_000, 5, np.int32)]
    reports = list(report(batches, channel, entropy))
    assert [r.size for r in reports] == [6, 50_000]
    assert (np.concatenate(reports) == np.concatenate(batches)).all() == (epsilon == "60")


def test_the_simulation_covers_every_counted_client(entropy):
    """At ε 60 nobody lies (once in 10^20 reports), so the reports equal the counts, to the last client."""
    head_list = HeadList.of([("a", "x"), ("b", "x")])
    channel = Channel.of(head_list, Fraction(60), Fraction(1, 10**25), Fraction("0.8"))
    counts = np.array([3, 0, 1, 5, 2], np.int64)
    assert simulate(counts, channel, entropy).tolist() == counts.tolist()
