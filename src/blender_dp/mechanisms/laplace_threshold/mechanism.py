"""List the records whose count plus Laplace noise exceeds a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from blender_dp.arithmetic import Number, exp_bounds
from blender_dp.errors import OutsideTheoremError, ParameterError
from blender_dp.records.parameters import Parameters
from blender_dp.sampling import Entropy
from blender_dp.sampling.discrete import distinct
from blender_dp.sampling.laplace import GridLaplace

Counts = NDArray[np.int64]

# Where fewer than this share of a crowd survives, the survivors are drawn without drawing the others.
_RARE = Fraction(1, 8)


@dataclass(frozen=True)
class Selection:
    """Which rows are listed, and their noisy counts (already private) in records."""

    rows: NDArray[np.int64]
    noisy_counts: NDArray[np.float64]


@dataclass(frozen=True)
class LaplaceThreshold:
    """Partition selection for data in which every user holds one record.

    Citation: Figure 3 of the BLENDER paper (CreateHeadList), after Korolova (2012).
    Privacy: (ε, δ) in the central model, neighbours by substitution; covers the list and the noisy counts.
        Proof: `proof.md` beside this file.
    Utility: a record seen n times is listed with probability `listing_probability(n)`; 1/2 at the threshold,
        about 1 - 2·ln(δ)/ε records.
    Cost: time linear in the number of distinct records, with far fewer random numbers than records.
    """

    noise: GridLaplace
    threshold: int
    """τ in the noise's half steps; on the grid, so never equal to a noisy count."""

    @classmethod
    def of(cls, epsilon: Number, delta: Number, m_o: int = 1) -> LaplaceThreshold:
        """Calibrate noise and threshold; refuse what Theorem 3.1 does not cover."""
        p = Parameters.of(epsilon=epsilon, delta=delta, m_o=m_o)
        if m_o != 1:
            raise OutsideTheoremError(
                "m_o", f"discovery is proved for 1 record per opt-in user, not {m_o}", "Set m_o to 1", theorem="Theorem 3.1"
            )
        if exp_bounds(p.epsilon)[0] <= 2:
            raise OutsideTheoremError(
                "epsilon",
                f"discovery is proved for ε > ln 2 = 0.693..., not {float(p.epsilon):g}",
                "Raise epsilon",
                theorem="Theorem 3.1",
            )
        noise = GridLaplace.of(p.epsilon / 2)  # a substitution moves two counts by one each
        return cls(noise, noise.half_steps + noise.threshold_for(p.delta / 2))

    @property
    def is_sound(self) -> bool:
        """Whether the integers make sense at all: real noise, and a threshold on the grid that a lone record misses."""
        return self.noise.is_sound and self.threshold % 2 == 0 and self.threshold >= self.noise.half_steps

    @property
    def tau(self) -> float:
        """The threshold in records."""
        return self.threshold / self.noise.half_steps

    def listing_probability(self, count: int) -> Fraction:
        """The exact probability that a record with this count is listed; a record nobody has never is."""
        return self.noise.survival(self.threshold - count * self.noise.half_steps) if count > 0 else Fraction(0)

    def select(self, counts: Counts, entropy: Entropy) -> Selection:
        """Decide which of the distinct records with these counts are listed. A record nobody has cannot be asked for."""
        if counts.size and counts.min() < 1:
            raise ParameterError("counts", "some are below 1", "Give only records that somebody holds")
        rare = counts <= self._largest_rare
        parts = [self._select_plainly(counts, np.flatnonzero(~rare), entropy)]
        crowds = np.bincount(counts[rare])
        parts += [self._select_from_crowd(counts, n, int(crowds[n]), entropy) for n in np.flatnonzero(crowds).tolist()]
        rows, noisy = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(rows)
        return Selection(rows[order], noisy[order] / self.noise.half_steps)

    def _select_plainly(self, counts: Counts, rows: Counts, entropy: Entropy) -> tuple[Counts, Counts]:
        noisy = counts[rows] * self.noise.half_steps + self.noise.sample(rows.size, entropy)
        listed = noisy > self.threshold
        return rows[listed], noisy[listed]

    def _select_from_crowd(self, counts: Counts, count: int, size: int, entropy: Entropy) -> tuple[Counts, Counts]:
        """The records with one count are exchangeable: draw how many survive, then which."""
        exact = count * self.noise.half_steps
        noise = self.noise.exceeding(size, self.threshold - exact, entropy)
        if noise.size == 0:
            return noise, noise
        members = np.flatnonzero(counts == count)
        return members[distinct(size, noise.size, entropy)], exact + noise

    @cached_property
    def _largest_rare(self) -> int:
        return (self.threshold - self.noise.threshold_for(_RARE)) // self.noise.half_steps
