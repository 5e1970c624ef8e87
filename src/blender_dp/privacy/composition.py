"""The privacy loss of several rounds together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

from blender_dp.privacy.loss import Loss

_GRID = 100_000  # points of the accountant's distribution
_FINEST = 1e-10  # a δ below this is too close to the rounding errors of floats to prove anything with
_MOST = 500  # beyond this e^ε overflows, and the promise is meaningless


def composed(losses: Sequence[Loss]) -> Fraction:
    """An upper bound on the ε of all losses together, at the sum of their δ: the plain sum, or less if that can be proved.

    Each loss counts as an (ε, δ) bound, whatever its mechanism. The accountant works in floats, on a grid whose size
    does not depend on the losses. Its inputs are rounded to the safe side, and if its result is above the plain sum, or
    infinite, the plain sum is used, which always holds.
    """
    plain, delta = sum((loss.epsilon for loss in losses), Fraction(0)), sum(loss.delta for loss in losses)
    if len(losses) < 2 or not _FINEST < delta < 1 or plain > _MOST:
        return plain  # nothing to compose, or nothing to gain: at a δ of 1 an accountant would allow anything
    largest = max(loss.epsilon for loss in losses)
    proved = _accounted(Counter(losses), math.nextafter(float(delta), 0), float(plain) / _GRID)
    return min(max(Fraction(proved), largest), plain) if math.isfinite(proved) else plain


def _accounted(losses: Counter[Loss], delta: float, step: float) -> float:
    """The ε at δ that Google's accountant can prove for these counts of losses; infinite if it can prove none."""
    from dp_accounting.pld.common import DifferentialPrivacyParameters  # noqa: PLC0415 (slow to import, seldom needed)
    from dp_accounting.pld.privacy_loss_distribution import (  # noqa: PLC0415
        PrivacyLossDistribution,
        from_privacy_parameters,
    )

    parts = [
        from_privacy_parameters(DifferentialPrivacyParameters(_above(loss.epsilon), _above(loss.delta)), step)
        .self_compose(times)
        for loss, times in losses.items()
    ]  # fmt: skip
    return float(reduce(PrivacyLossDistribution.compose, parts).get_epsilon_for_delta(delta))


def _above(value: Fraction) -> float:
    """A float that is not below the value; 0 stays 0."""
    return math.nextafter(float(value), math.inf) if value else 0.0
