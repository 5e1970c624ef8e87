"""List the records whose count plus Laplace noise exceeds a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blender_dp.errors import OutsideTheoremError
from blender_dp.mechanisms.selector import Selector
from blender_dp.mechanisms.theorems import check_one_record
from blender_dp.sampling import Entropy
from blender_dp.sampling.laplace import GridLaplace
from blender_dp_device.arithmetic import Number, exp_bounds
from blender_dp_device.records.checks import checked_delta, checked_epsilon


@dataclass(frozen=True)
class LaplaceThreshold:
    """Partition selection for data in which every user has one record.

    Citation: Figure 3 of the BLENDER paper (CreateHeadList), after Korolova (2012).
    Privacy: (ε, δ) in the central model, neighbours by substitution; covers the list and the noisy counts.
        Proof: `proof.md` beside this file.
    Utility: a record seen n times is listed with probability `listing_probability(n)`; 1/2 at the threshold,
        about 1 - 2·ln(δ)/ε records.
    Cost: time linear in the number of distinct records, with far fewer random numbers than records.
    """

    noise: GridLaplace
    threshold: int
    """τ in half steps of the noise; it is on the grid, so no noisy count equals it."""

    @classmethod
    def of(cls, epsilon: Number, delta: Number, records: int = 1) -> LaplaceThreshold:
        """Calibrate noise and threshold; refuse parameters that Theorem 3.1 does not cover."""
        loss, chance = checked_epsilon(epsilon), checked_delta(delta)
        check_one_record(records, "discovery", "Theorem 3.1")
        if exp_bounds(loss)[0] <= 2:
            raise OutsideTheoremError(
                "epsilon",
                f"discovery is proved for ε > ln 2 = 0.693..., not {float(loss):g}",
                "Raise epsilon",
                theorem="Theorem 3.1",
            )
        noise = GridLaplace.of(loss / 2)  # a substitution changes two counts by one each
        return cls(noise, noise.half_steps + noise.threshold_for(chance / 2))

    @property
    def is_sound(self) -> bool:
        """Whether the integers are valid: valid noise, and a threshold on the grid of at least one record."""
        return self.noise.is_sound and self.threshold % 2 == 0 and self.threshold >= self.noise.half_steps

    @property
    def tau(self) -> float:
        """The threshold in records."""
        return self.threshold / self.noise.half_steps

    def listing_probability(self, count: int) -> Fraction:
        """The exact probability that a record with this count is listed; a record that no user has is never listed."""
        return self.noise.survival(self.threshold - count * self.noise.half_steps) if count > 0 else Fraction(0)

    def selector(self, entropy: Entropy) -> Selector:
        """Create the selector for the records of one data set."""
        return Selector(self.noise, self.threshold, entropy)
