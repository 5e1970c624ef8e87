"""Estimates from the clients' reports alone: the shares of a head list, without the opt-in users."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from blender_dp.release.estimates import interval
from blender_dp.stages import ClientEstimate, Estimate
from blender_dp_device.records.head_list import HeadList

_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("level", "query", "url")]
    + [(name, pa.float64()) for name in ("share", "variance", "low", "high")]
)


def client_shares(head_list: HeadList, estimate: ClientEstimate) -> pa.Table:
    """Every query's and every record's share with its 95 % interval; `level` says which it is. Null is ⋆, unlisted.

    Shares are unbiased, so that further reports can be averaged in: a share may be slightly below 0, and its interval
    then begins there.
    """
    queries = [("query", query, None) for query in (*head_list.queries, None)]
    records = [("record", cell.query, cell.url) for cell in head_list.cells()]
    rows = [*_rows(queries, estimate.queries), *_rows(records, estimate.cells)]
    return pa.Table.from_pylist([dict(zip(_SCHEMA.names, row, strict=True)) for row in rows], _SCHEMA)


def _rows(names: Sequence[tuple[str, str | None, str | None]], estimate: Estimate) -> list[tuple[object, ...]]:
    numbers = zip(estimate.share.tolist(), estimate.variance.tolist(), strict=True)
    return [(*name, *pair, *interval(*pair)) for name, pair in zip(names, numbers, strict=True)]
