"""Put the stages' arrays together as a release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from blender_dp.privacy.loss import Promise
from blender_dp.records.canonical import CANONICAL_VERSION
from blender_dp.records.parameters import Parameters
from blender_dp.release.estimates import QueryEstimate, RecordEstimate, interval
from blender_dp.release.manifest import Manifest, group_promise, settings_of, versions
from blender_dp.release.release import Release
from blender_dp.stages.blending import Blend, Blended
from blender_dp.stages.calibration import OptInEstimate
from blender_dp.stages.denoising import ClientEstimate
from blender_dp.stages.layout import Floats


@dataclass(frozen=True)
class Sizes:
    """How many users each group has; public."""

    discovery: int
    calibration: int
    clients: int


def assemble(
    parameters: Parameters,
    promises: tuple[Promise, Promise],
    sizes: Sizes,
    threshold: float,
    opt_in: OptInEstimate,
    client: ClientEstimate,
    blended: Blend,
    seeded: bool,
) -> Release:
    """Join estimates, errors and manifest."""
    manifest = Manifest(
        settings=settings_of(parameters),
        groups=(
            group_promise(promises[0], sizes.discovery + sizes.calibration),
            group_promise(promises[1], sizes.clients),
        ),
        discovery_users=sizes.discovery,
        calibration_users=sizes.calibration,
        reports=client.reports,
        threshold=threshold,
        head_list=opt_in.head_list.digest,
        canonical_version=CANONICAL_VERSION,
        randomness="insecure: seeded" if seeded else "system",
        versions=versions(),
    )
    queries = zip(
        (*opt_in.head_list.queries, None),
        _rows(blended.queries, opt_in.query_share, opt_in.query_variance, client.query_share, client.query_variance),
        strict=True,
    )
    cells = zip(
        opt_in.head_list.cells(),
        _rows(blended.cells, opt_in.share, opt_in.variance, client.share, client.variance),
        strict=True,
    )
    return Release(
        manifest,
        opt_in.head_list,
        tuple(QueryEstimate(query=query, **row) for query, row in queries),
        tuple(RecordEstimate(query=record.query, url=record.url, **row) for record, row in cells),
    )


def _rows(
    blended: Blended, opt_in: Floats, opt_in_variance: Floats, client: Floats, client_variance: Floats
) -> Iterator[dict[str, float | None]]:
    columns = (blended.share, blended.variance, blended.weight, opt_in, opt_in_variance, client, client_variance)
    for share, variance, weight, o, o_variance, c, c_variance in np.column_stack(columns).tolist():
        low, high = interval(share, variance)
        known = o == o  # NaN where the opt-in users have no estimate
        yield {
            "share": share,
            "variance": variance,
            "low": low,
            "high": high,
            "opt_in_share": o if known else None,
            "opt_in_variance": o_variance if known else None,
            "client_share": c,
            "client_variance": c_variance,
            "opt_in_weight": weight,
        }
