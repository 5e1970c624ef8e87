"""The five stages as pure functions of plain values. `Collection` and `Blender` combine them.

The names below are the interface of this package; code outside it does not import from its modules.

    discovery      opt-in users' record counts            -> `Discovery`: the list and its noisy counts
    calibration    opt-in users' cells                    -> the opt-in users' estimates
    reporting      clients' records, randomised           -> how often each cell was reported
    denoising      those counts                           -> `ClientEstimate`
    blending       both groups' estimates                 -> `Result`

A `Randomiser` offers designs for the clients' channel, and an `Estimator` does calibration, denoising and blending.
"""

from blender_dp.stages.averaging import Averaging
from blender_dp.stages.blending import Blend, Blended, blend
from blender_dp.stages.calibration import OptInEstimate, calibrate, noisy_shares, opt_in_estimate, top_queries
from blender_dp.stages.denoising import ClientEstimate, denoise
from blender_dp.stages.design import best_channel
from blender_dp.stages.discovery import Discovery, combine_survivors, discover, survivors, with_candidates
from blender_dp.stages.estimator import Calibrated, Context, Estimator, Result
from blender_dp.stages.group_comparison import disagreement, spread, trust
from blender_dp.stages.layout import Estimate, Flags, Floats, Integers, Layout, largest
from blender_dp.stages.likelihood.estimator import Calibration, Likelihood
from blender_dp.stages.likelihood.yardsticks import Yardsticks
from blender_dp.stages.plausibility import check_fit
from blender_dp.stages.randomiser import Design, Randomiser, Subset, TwoStage
from blender_dp.stages.reporting import (
    cells_of,
    count_cells,
    counted_cells,
    counted_reports,
    report,
    simulate,
    sum_counts,
)
from blender_dp.stages.response import Response

__all__ = [
    "Averaging",
    "Blend",
    "Blended",
    "Calibrated",
    "Calibration",
    "ClientEstimate",
    "Context",
    "Design",
    "Discovery",
    "Estimate",
    "Estimator",
    "Flags",
    "Floats",
    "Integers",
    "Layout",
    "Likelihood",
    "OptInEstimate",
    "Randomiser",
    "Response",
    "Result",
    "Subset",
    "TwoStage",
    "Yardsticks",
    "best_channel",
    "blend",
    "calibrate",
    "cells_of",
    "check_fit",
    "combine_survivors",
    "count_cells",
    "counted_cells",
    "counted_reports",
    "denoise",
    "disagreement",
    "discover",
    "largest",
    "noisy_shares",
    "opt_in_estimate",
    "report",
    "simulate",
    "spread",
    "sum_counts",
    "survivors",
    "top_queries",
    "trust",
    "with_candidates",
]
