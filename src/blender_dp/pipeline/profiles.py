"""The parts that a collection is put together from, by name.

A profile is a choice of one part of each kind (`parameters.PROFILES`); any other combination works as well. To add a part,
write a class that follows the protocol of its kind, name it in `parameters.PROFILES` and add a line here. A mechanism also
needs one in `audit`.
"""

from __future__ import annotations

from collections.abc import Mapping

from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.stages import Averaging, Estimator, Likelihood, Randomiser, Subset, TwoStage

DISCOVERIES: Mapping[str, type[LaplaceThreshold] | type[TruncatedGeometric]] = {
    "laplace": LaplaceThreshold,
    "geometric": TruncatedGeometric,
}
RANDOMISERS: Mapping[str, Randomiser] = {"two-stage": TwoStage(), "subset": Subset()}
ESTIMATORS: Mapping[str, Estimator] = {"average": Averaging(), "likelihood": Likelihood()}
