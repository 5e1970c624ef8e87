"""The result of an audit: the claim and the exact loss of the integers in use."""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass
from fractions import Fraction

from blender_dp.privacy.loss import Loss
from blender_dp_device.arithmetic import decimal_context

_DIGITS = 40  # the exact fraction can have thousands


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

    def to_document(self) -> dict[str, object]:
        """Everything as JSON values. The exact δ is a decimal number, rounded up."""
        divide = decimal_context(_DIGITS, decimal.ROUND_CEILING).divide
        return {
            "mechanism": self.mechanism,
            "claimed_epsilon": str(self.claim.epsilon),
            "claimed_delta": str(self.claim.delta),
            "worst_epsilon": self.epsilon if math.isfinite(self.epsilon) else None,
            "exact_delta": str(divide(decimal.Decimal(self.delta.numerator), decimal.Decimal(self.delta.denominator))),
            "verdict": "holds" if self.holds else "violated",
        }


def nothing_holds(mechanism: str, claim: Loss) -> Finding:
    """The finding for integers that are not a valid distribution: no bound at all."""
    return Finding(mechanism, claim, math.inf, Fraction(1))
