"""Time of the likelihood estimator on long lists, and how its memory grows."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np

from benchmarks.result import Cell, Result, Verdict
from blender_dp import Blender, Entropy, HeadList
from blender_dp.release.manifest import Sizes
from blender_dp.stages.discovery import Discovery, record_cells
from blender_dp.stages.estimator import Context
from blender_dp.stages.likelihood.estimator import Calibration
from blender_dp.stages.randomiser import Design
from blender_dp.stages.reporting import simulate

LARGE = 5_000
SIZES = (1_250, 2_500, LARGE)
URLS = (1, 2, 3, 5, 9)  # in turn: four records per query
USERS = 5_000_000
ROUNDS = 3


def measure() -> Result:
    rows = [_row(queries) for queries in SIZES]
    largest, smaller = rows[-1], rows[-2]
    return Result(
        "estimator",
        "one likelihood for all evidence, on long lists",
        f"Four records per query, {USERS:,} users, 5 % opt-in, ε = 4, reports of the size that `tight` chooses; best "
        f"of {ROUNDS}. Both estimates are computed: from all evidence, and from the opt-in users' alone. Memory is "
        "numpy's peak.",
        rows,
        [
            Verdict(f"time for {LARGE:,} queries", float(largest["s"]), 2, "at most", " s"),
            Verdict(
                "memory growth for twice the list", float(largest["peak MB"]) / float(smaller["peak MB"]), 2.2, "at most"
            ),
        ],
    )


def _row(queries: int) -> dict[str, Cell]:
    blender = Blender(epsilon=4, delta="1e-7", max_queries=queries)
    head_list = HeadList.of((f"query {q:05}", f"https://{u}.example/") for q in range(queries) for u in range(URLS[q % 5]))
    calibrated, reports, design, context = _evidence(blender, head_list)
    channel = blender.collection.channel(head_list, design)

    def combine() -> None:
        blender.collection.estimator.combine(calibrated, reports, channel, context)

    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        combine()
        seconds.append(time.perf_counter() - start)
    tracemalloc.start()
    combine()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    records = record_cells(head_list).size
    return {
        "queries": queries, "records": records, "queries per report": design.size,
        "s": min(seconds), "peak MB": peak / 1e6, "bytes per cell": peak / head_list.cell_count,
    }  # fmt: skip


def _evidence(blender: Blender, head_list: HeadList) -> tuple[Calibration, np.ndarray, Design, Context]:
    """The evidence of a collection about this list, with shares that fall like 1 / rank."""
    entropy = Entropy.seeded("estimator")
    cells = np.arange(1.0, head_list.cell_count + 1)
    shares = 0.5 * cells**-1 / (cells**-1).sum()
    shares[-1] += 0.5
    sizes = Sizes(round(USERS * 0.0475), round(USERS * 0.0025), round(USERS * 0.95))
    counted = [np.round(users * shares).astype(np.int64) for users in (sizes.discovery, sizes.calibration, sizes.clients)]
    listed = counted[0][record_cells(head_list)] + blender.collection.discovery.tau
    context = blender.collection.context(
        Discovery(head_list, listed, np.zeros(listed.size, np.bool_)), sizes.discovery, sizes.calibration
    )
    design = blender.collection.design(context, sizes.clients)
    calibrated = Calibration(head_list, blender.collection.calibration.release(counted[1], entropy))
    return calibrated, simulate(counted[2], blender.collection.channel(head_list, design), entropy), design, context
