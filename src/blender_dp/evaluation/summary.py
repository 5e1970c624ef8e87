"""Means and standard errors over the seeds, as a tidy table."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from blender_dp.evaluation.cells import MEASURES, SCORES, SETTING_COLUMNS

_KEYS = [*SETTING_COLUMNS, "group"]


def summarise(rows: pa.Table) -> pa.Table:
    """One row for every setting, group and measure, with its mean over the seeds and the standard error of the mean.

    Measures that are the same for every group appear once, in the group `blended`. With one seed the error is null.
    """
    parts = []
    for measure in MEASURES:
        here = rows if measure in SCORES else rows.filter(pc.equal(rows["group"], "blended"))
        options = pc.VarianceOptions(ddof=1)
        counted = here.group_by(_KEYS, use_threads=False).aggregate(
            [(measure, "mean"), (measure, "stddev", options), (measure, "count")]
        )
        seeds = counted[f"{measure}_count"]
        error = pc.divide(counted[f"{measure}_stddev"], pc.sqrt(seeds.cast(pa.float64())))
        parts.append(
            counted.select(_KEYS)
            .append_column("measure", pa.array([measure] * counted.num_rows))
            .append_column("mean", counted[f"{measure}_mean"])
            .append_column("standard_error", error)
            .append_column("seeds", seeds)
        )
    return pa.concat_tables(parts)
