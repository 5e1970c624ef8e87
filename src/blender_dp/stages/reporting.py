"""Stage 3: map the clients' records to cells of the list and randomise them (LocalAlg for many clients)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from blender_dp.mechanisms.subset_response import SubsetResponse
from blender_dp.mechanisms.two_stage_response import TwoStageResponse
from blender_dp.sampling import Entropy
from blender_dp.stages.layout import Integers, Layout
from blender_dp_device.channel.subset import AnyChannel
from blender_dp_device.channel.two_stage import Channel
from blender_dp_device.records.head_list import HeadList

Cells = NDArray[np.int32]

_CLIENTS = 1 << 20  # per batch


def cells_of(records: Iterable[pa.RecordBatch], head_list: HeadList) -> Iterable[Cells]:
    """Find every record's cell; unlisted or missing values are ⋆. The columns are query and url.

    On a list of single items the query alone decides.
    """
    place = _Placer(head_list)
    return (place(batch["query"], batch["url"]) for batch in records)


def count_cells(cells: Iterable[Cells], cell_count: int) -> Integers:
    """Count how often every cell occurs."""
    total = np.zeros(cell_count, np.int64)
    for batch in cells:
        total += np.bincount(batch.ravel(), minlength=cell_count)
    return total


def report(cells: Iterable[Cells], channel: AnyChannel, entropy: Entropy) -> Iterable[Cells]:
    """Randomise every client's cell. Nothing but the result, one row of cells per client, may leave the client."""
    mechanism = TwoStageResponse(channel) if isinstance(channel, Channel) else SubsetResponse(channel)
    return (mechanism.respond(batch, entropy) for batch in cells)


def counted_cells(records: Iterable[pa.RecordBatch], head_list: HeadList) -> pa.Table:
    """How many records of one part fall on every cell."""
    return _as_table(count_cells(cells_of(records, head_list), head_list.cell_count))


def counted_reports(
    records: Iterable[pa.RecordBatch], head_list: HeadList, channel: AnyChannel, entropy: Entropy
) -> pa.Table:
    """Randomise the records of one part of the clients, and count how often every cell is reported."""
    return _as_table(count_cells(report(cells_of(records, head_list), channel, entropy), head_list.cell_count))


def sum_counts(parts: Iterable[pa.Table]) -> Integers:
    """Add up the counts of all parts."""
    counts: Integers = np.sum([part["count"].to_numpy() for part in parts], axis=0, dtype=np.int64)
    return counts


def simulate(counts: Integers, channel: AnyChannel, entropy: Entropy) -> Integers:
    """Simulate the reports of all clients from the number of clients in every cell.

    Clients with the same cell are interchangeable, so only their number matters: the result has the same distribution as
    individual reports, and needs no pass over the users. Useful for parameter sweeps.
    """
    ends = np.cumsum(counts)
    starts = range(0, int(ends[-1]), _CLIENTS)
    numbers = (np.arange(start, min(start + _CLIENTS, int(ends[-1]))) for start in starts)
    cells = (np.searchsorted(ends, number, side="right").astype(np.int32) for number in numbers)
    return count_cells(report(cells, channel, entropy), counts.size)


def _as_table(counts: Integers) -> pa.Table:
    return pa.table({"count": counts})


class _Placer:
    """`HeadList.position` for columns: a listed ⟨query, URL⟩ pair is one number, found by one sorted search."""

    def __init__(self, head_list: HeadList) -> None:
        layout = Layout(head_list.url_counts)
        urls = [url for _, urls in head_list.entries for url in urls]  # empty with one level: every listed record is ⟨q, ⋆⟩
        self._queries = pa.array(head_list.queries, pa.string())
        self._urls = pa.array(sorted(set(urls)), pa.string())
        self._star_cells = layout.star_cells
        query = np.repeat(np.arange(len(head_list)), layout.counts[:-1] - 1)
        pairs = self._pair(query, _index_in(pa.array(urls, pa.string()), self._urls))
        cells = np.delete(np.arange(layout.cell_count), layout.star_cells)
        order = np.argsort(pairs)
        # A sentinel that no record matches, so that every search ends inside the array.
        self._pairs = np.append(pairs[order], np.iinfo(np.int64).max)
        self._cells = np.append(cells[order], -1)

    def __call__(self, query: pa.Array, url: pa.Array) -> Cells:
        query_index, url_index = _index_in(query, self._queries), _index_in(url, self._urls)
        cells = self._star_cells[query_index]  # -1 (not listed) selects the last cell: ⟨⋆, ⋆⟩
        known = np.flatnonzero((query_index >= 0) & (url_index >= 0))
        pairs = self._pair(query_index[known], url_index[known])
        place = np.searchsorted(self._pairs, pairs)
        matches = self._pairs[place] == pairs
        cells[known[matches]] = self._cells[place[matches]]
        return cells.astype(np.int32)

    def _pair(self, query: Integers, url: Integers) -> Integers:
        return query * len(self._urls) + url


def _index_in(values: pa.Array, known: pa.Array) -> Integers:
    import pyarrow.compute as pc  # noqa: PLC0415 (slow to import, and plans do not need it)

    index = pc.fill_null(pc.index_in(values.cast(pa.string()), value_set=known), -1)
    return np.asarray(index, np.int64)
