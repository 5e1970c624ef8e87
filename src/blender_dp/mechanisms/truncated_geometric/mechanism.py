"""List the records whose count plus bounded integer noise exceeds the bound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blender_dp.mechanisms.selector import Selector
from blender_dp.mechanisms.theorems import check_one_record
from blender_dp.sampling import Entropy
from blender_dp.sampling.capped import CappedGeometric
from blender_dp_device.arithmetic import Number
from blender_dp_device.records.checks import checked_delta, checked_epsilon


@dataclass(frozen=True)
class TruncatedGeometric:
    """Partition selection for data in which every user has one record.

    Citation: after Desfontaines, Voss, Gipson and Mandayam (2022), made one-sided so that it uses all of δ.
    Privacy: (ε, δ) in the central model, neighbours by substitution; covers the list and the noisy counts.
        Proof: `proof.md` beside this file.
    Utility: a record seen n times is listed with probability `listing_probability(n)`, which grows from δ by the
        largest factor that ε/2 allows; the noise is never above `threshold`.
    Cost: time linear in the number of distinct records, with far fewer random numbers than records.
    """

    noise: CappedGeometric

    @classmethod
    def of(cls, epsilon: Number, delta: Number, records: int = 1) -> TruncatedGeometric:
        """Create the noise; refuse parameters that the proof does not cover."""
        loss, chance = checked_epsilon(epsilon), checked_delta(delta)
        check_one_record(records, "discovery", "proof.md")
        return cls(CappedGeometric.of(loss / 2, chance))  # a substitution changes two counts by one each

    @property
    def is_sound(self) -> bool:
        """Whether the integers are valid: valid noise, and a threshold that the selector can use."""
        return self.noise.is_sound and self.threshold >= 0

    @property
    def threshold(self) -> int:
        """κ: a record is listed if its noisy count exceeds the maximum noise, so a record without users never is."""
        return self.noise.cap

    @property
    def tau(self) -> float:
        """The threshold in records."""
        return float(self.threshold)

    def listing_probability(self, count: int) -> Fraction:
        """The exact probability that a record with this count is listed; a record that no user has is never listed."""
        return self.noise.survival(self.threshold - count) if count > 0 else Fraction(0)

    def selector(self, entropy: Entropy) -> Selector:
        """Create the selector for the records of one data set."""
        return Selector(self.noise, self.threshold, entropy)
