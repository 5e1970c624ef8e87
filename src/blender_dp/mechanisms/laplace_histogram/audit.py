"""The exact loss of the histogram, from the integers of its noise."""

from __future__ import annotations

from fractions import Fraction

from blender_dp.mechanisms.laplace_histogram.mechanism import LaplaceHistogram
from blender_dp.privacy.divergence import Pair, Scaled, joint_hockey_stick, largest_ratio
from blender_dp.privacy.finding import Finding, nothing_holds
from blender_dp.privacy.loss import Loss
from blender_dp.privacy.rounding import log_above
from blender_dp.sampling.discrete import WORD
from blender_dp.sampling.laplace import GridLaplace
from blender_dp_device.arithmetic import exp_bounds

NAME = "calibration"


def shift(noise: GridLaplace) -> Scaled:
    """The pairs for one count that moves by one unit, and their scale.

    Outputs are grouped by their ratio: all above the higher count, all below the lower one, and the G places between
    them, where the noise crosses zero. The other direction is the mirror image and has the same list of pairs.
    """
    one, more = WORD, noise.more
    # Scale 2·2^128. Above: all of the positive half against `more` / 2^64 times that half; below: the reverse.
    tails: list[Pair] = [(one * one, more * one), (more * one, one * one)]
    between = [(w * (one - more), v * (one - more)) for w, v in zip(noise.weights, reversed(noise.weights), strict=True)]
    return tails + between, 2 * one * one


def audit(mechanism: LaplaceHistogram, claim: Loss) -> Finding:
    """Compute the worst case over all neighbours: one cell loses a user and another one gains a user."""
    if not mechanism.noise.is_sound:
        return nothing_holds(NAME, claim)
    pairs = shift(mechanism.noise)
    worst = largest_ratio(pairs[0]) ** 2
    factor = exp_bounds(claim.epsilon)[0]
    delta = Fraction(0) if worst <= factor else joint_hockey_stick(pairs, pairs, factor)
    return Finding(NAME, claim, log_above(worst), delta)
