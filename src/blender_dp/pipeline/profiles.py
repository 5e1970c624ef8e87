"""The parts that a collection is put together from, by name.

A profile is a choice of one part of each kind (`records.parameters.PROFILES`); any other mixture works as well. A new part
is a folder or a file with one class that keeps to the protocol of its kind, its name in `records.parameters`, and one
line here (a mechanism has one in `audit` too).
"""

from __future__ import annotations

from collections.abc import Mapping

from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.stages.averaging import Averaging
from blender_dp.stages.estimator import Estimator
from blender_dp.stages.likelihood.estimator import Likelihood
from blender_dp.stages.randomiser import Randomiser, Subset, TwoStage

DISCOVERIES: Mapping[str, type[LaplaceThreshold] | type[TruncatedGeometric]] = {
    "laplace": LaplaceThreshold,
    "geometric": TruncatedGeometric,
}
RANDOMISERS: Mapping[str, Randomiser] = {"two-stage": TwoStage(), "subset": Subset()}
ESTIMATORS: Mapping[str, Estimator] = {"average": Averaging(), "likelihood": Likelihood()}
