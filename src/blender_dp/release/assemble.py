"""Combine the stages' arrays into the rows of a release."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from blender_dp.release.estimates import QueryEstimate, RecordEstimate, interval
from blender_dp.release.manifest import Manifest
from blender_dp.release.release import Release
from blender_dp.stages import Blended, Estimate, Result
from blender_dp_device.records.reporting_list import ReportingList


def assemble(manifest: Manifest, reporting_list: ReportingList, result: Result) -> Release:
    """Join the names on the list with both groups' estimates and the blended ones."""
    opt_in, client, blended = result.opt_in, result.client, result.blended
    head_list = reporting_list.head_list
    queries = zip((*head_list.queries, None), _rows(blended.queries, opt_in.queries, client.queries), strict=True)
    cells = zip(head_list.cells(), _rows(blended.cells, opt_in.cells, client.cells), strict=True)
    return Release(
        manifest,
        reporting_list,
        tuple(QueryEstimate(query=query, **row) for query, row in queries),
        tuple(RecordEstimate(query=record.query, url=record.url, **row) for record, row in cells),
    )


def _rows(blended: Blended, opt_in: Estimate, client: Estimate) -> Iterator[dict[str, Any]]:
    columns = (blended.share, blended.variance, blended.weight, opt_in.share, opt_in.variance, client.share, client.variance)
    for share, variance, weight, o_share, o_variance, c_share, c_variance in np.column_stack(columns).tolist():
        low, high = interval(share, variance)
        yield {
            "share": share,
            "variance": variance,
            "low": low,
            "high": high,
            "opt_in_share": None if math.isnan(o_share) else o_share,
            "opt_in_variance": None if math.isnan(o_variance) else o_variance,
            "client_share": c_share,
            "client_variance": c_variance,
            "opt_in_weight": weight,
        }
