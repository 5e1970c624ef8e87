"""The result of an audit: the claim and the exact loss of the integers in use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from blender_dp.privacy.loss import Loss


@dataclass(frozen=True)
class Finding:
    """One mechanism's claim and its exact worst case over all neighbours.

    `epsilon` is the largest log-ratio over the outputs that both neighbours can produce (rounded up); `delta` is the
    exact divergence at the *claimed* ε, which is what the promise limits.
    """

    mechanism: str
    claim: Loss
    epsilon: float
    delta: Fraction

    @property
    def holds(self) -> bool:
        """Whether the integers satisfy the claim."""
        return self.delta <= self.claim.delta


def nothing_holds(mechanism: str, claim: Loss) -> Finding:
    """The finding for integers that are not a valid distribution: no bound at all."""
    return Finding(mechanism, claim, math.inf, Fraction(1))
