"""Stage 3: place the clients' records on the list and randomise them (LocalAlg for many)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from blender_dp.client.channel import Channel
from blender_dp.mechanisms.two_stage_response import TwoStageResponse
from blender_dp.records.head_list import HeadList
from blender_dp.sampling import Entropy
from blender_dp.stages.layout import Layout

Cells = NDArray[np.int32]


def cells_of(records: Iterable[pa.RecordBatch], head_list: HeadList) -> Iterable[Cells]:
    """Find every record's cell; what is not listed, or missing, falls on ⋆. Columns are query and url."""
    layout = Layout(head_list.url_counts)
    queries = pa.array(head_list.queries, pa.string())
    names = sorted({url for _, url in head_list.records()})
    urls = pa.array(names, pa.string())
    # A listed pair is one number, so that one sorted search finds all of them.
    index = {url: i for i, url in enumerate(names)}
    pairs = np.array([q * len(names) + index[url] for q, (_, of_q) in enumerate(head_list.entries) for url in of_q], np.int64)
    pair_cells = np.delete(np.arange(layout.cell_count), np.append(layout.other_url, layout.cell_count - 1))
    order = np.argsort(pairs)
    pairs, pair_cells = pairs[order], pair_cells[order]
    star = np.append(layout.other_url, layout.cell_count - 1)  # where an unlisted URL of each query falls
    for batch in records:
        query = _index_in(batch["query"], queries)
        url = _index_in(batch["url"], urls)
        cells = star[query]  # -1 is the last one: ⟨⋆, ⋆⟩
        known = np.flatnonzero((query >= 0) & (url >= 0))
        wanted = query[known] * len(names) + url[known]
        place = np.minimum(np.searchsorted(pairs, wanted), max(pairs.size - 1, 0))
        listed = pairs[place] == wanted if pairs.size else np.zeros(0, bool)
        cells[known[listed]] = pair_cells[place[listed]]
        yield cells.astype(np.int32)


def count_cells(cells: Iterable[Cells], cell_count: int) -> NDArray[np.int64]:
    """Add up how often every cell occurs."""
    total = np.zeros(cell_count, np.int64)
    for batch in cells:
        total += np.bincount(batch, minlength=cell_count)
    return total


def report(cells: Iterable[Cells], channel: Channel, entropy: Entropy) -> Iterable[Cells]:
    """Randomise every client's cell. Nothing but the result may leave the client."""
    mechanism = TwoStageResponse(channel)
    return (mechanism.respond(batch, entropy) for batch in cells)


def _index_in(values: pa.Array, known: pa.Array) -> NDArray[np.int64]:
    found = pc.fill_null(pc.index_in(values.cast(pa.string()), value_set=known), -1)
    return found.to_numpy(zero_copy_only=False).astype(np.int64)
