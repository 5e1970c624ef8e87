"""Add Laplace noise to the counts of known cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blender_dp.mechanisms.theorems import check_one_record
from blender_dp.sampling import Entropy
from blender_dp.sampling.laplace import GridLaplace
from blender_dp_device.arithmetic import Number
from blender_dp_device.records.checks import checked_epsilon


@dataclass(frozen=True)
class LaplaceHistogram:
    """A noisy histogram over public cells, for data in which every user has one record.

    Citation: Figure 4 of the BLENDER paper (EstimateOptinProbabilities), after Dwork et al. (2006).
    Privacy: (ε, 0) in the central model, neighbours by substitution. Proof: `proof.md` beside this file.
    Utility: every count is unbiased, with variance `noise.variance`, about 8/ε².
    Cost: a few random words per cell.
    """

    noise: GridLaplace

    @classmethod
    def of(cls, epsilon: Number, records: int = 1) -> LaplaceHistogram:
        """Calibrate the noise; refuse parameters that Theorem 3.2 does not cover."""
        loss = checked_epsilon(epsilon)
        check_one_record(records, "calibration", "Theorem 3.2")
        return cls(GridLaplace.of(loss / 2))  # a substitution changes two counts by one each

    def release(self, counts: NDArray[np.int64], entropy: Entropy) -> NDArray[np.float64]:
        """Return the noisy counts."""
        noisy = counts * self.noise.half_steps + self.noise.sample(counts.size, entropy)
        return noisy / self.noise.half_steps
