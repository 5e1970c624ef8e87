"""A population of single items (apps) and a release of it, made by the stages alone: no engine takes part."""

from __future__ import annotations

import pyarrow as pa

from blender_dp import Blender, Entropy, Release
from blender_dp.release.assemble import assemble
from blender_dp.release.manifest import Sizes, manifest_of
from blender_dp.stages import blend, calibrate, cells_of, count_cells, denoise, discover, report
from blender_dp.stages.estimator import Result

HELD = {"calculator": 300, "camera": 240, "maps": 150, "mail": 90, None: 200, **{f"rare {i}": 1 for i in range(20)}}
"""How many of 1000 users hold each item; None is nobody's item."""

BLENDER = Blender(epsilon=4, delta=1e-5, max_queries=3, profile="paper")


def population(thousands: int) -> pa.Table:
    """One item per user: user, query, and url without any value."""
    items = [item for item, users in HELD.items() for _ in range(users)] * thousands
    users = [str(i) for i in range(len(items))]
    return pa.table({"user": users, "query": pa.array(items, pa.string()), "url": pa.nulls(len(items))})


def release_of_items() -> Release:
    """Run the five stages on 10 000 discovery users, 10 000 calibration users and 40 000 clients."""
    entropy = Entropy.seeded("items")
    discovering, calibrating, clients = population(10), population(10), population(40)
    held = discovering.filter(discovering["query"].is_valid())
    counts = held.group_by(["query", "url"]).aggregate([([], "count_all")]).rename_columns({"count_all": "count"})
    found = discover(counts.to_batches(), BLENDER.collection.discovery, entropy).head_list
    cells = count_cells(cells_of(calibrating.to_batches(), found), found.cell_count)
    opt_in = calibrate(cells, found, BLENDER.collection.calibration, BLENDER.parameters.max_queries, entropy)
    design = BLENDER.collection.randomiser.designs(BLENDER.parameters, opt_in.head_list)[0]
    channel, published = (
        BLENDER.collection.channel(opt_in.head_list, design),
        BLENDER.collection.published(opt_in.head_list, design),
    )
    reports = report(cells_of(clients.to_batches(), opt_in.head_list), channel, entropy)
    client = denoise(count_cells(reports, opt_in.head_list.cell_count), channel)
    manifest = manifest_of(
        BLENDER.parameters,
        BLENDER.collection.promises(),
        Sizes(discovering.num_rows, calibrating.num_rows, clients.num_rows),
        design=design,
        threshold=BLENDER.collection.discovery.tau,
        reports=client.reports,
        head_list=published,
        seeded=True,
    )
    return assemble(manifest, published, Result(opt_in, client, blend(opt_in, client, project=True)))
