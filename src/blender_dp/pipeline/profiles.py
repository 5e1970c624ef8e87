"""The parts of a collection by name: randomisers and estimators. Those of discovery are in `mechanisms.discoveries`.

A profile is a choice of one part of each kind (`parameters.PROFILES`); any other combination also works. To add a part,
write a class that implements the protocol of its kind, name it in `parameters.PROFILES` and add a line here or there. A
mechanism also needs a line in `audit`.
"""

from __future__ import annotations

from collections.abc import Mapping

from blender_dp.stages import Averaging, Estimator, Likelihood, Randomiser, Subset, TwoStage

RANDOMISERS: Mapping[str, Randomiser] = {"two-stage": TwoStage(), "subset": Subset()}
ESTIMATORS: Mapping[str, Estimator] = {"average": Averaging(), "likelihood": Likelihood()}
