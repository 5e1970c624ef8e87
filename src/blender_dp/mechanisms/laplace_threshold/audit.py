"""The exact loss of discovery, from the integers of its noise and threshold."""

from __future__ import annotations

from fractions import Fraction

from blender_dp.arithmetic import exp_bounds, log_above
from blender_dp.mechanisms.laplace_histogram import shift
from blender_dp.mechanisms.laplace_threshold.mechanism import LaplaceThreshold
from blender_dp.privacy.divergence import Pair, hockey_stick, independent, largest_ratio, swapped
from blender_dp.privacy.finding import Finding, nothing_holds
from blender_dp.privacy.loss import Loss

NAME = "discovery"


def audit(mechanism: LaplaceThreshold, claim: Loss) -> Finding:
    """Compute the worst case over all neighbours: one record loses a user, another one gains it.

    Either can be unique to that user, and then it exists in one data set only. Two counts that stay positive are
    covered by the untruncated noise, of which the threshold is post-processing.
    """
    if not mechanism.is_sound:
        return nothing_holds(NAME, claim)
    factor = exp_bounds(claim.epsilon)[0]
    moves, scale = shift(mechanism.noise)
    vanish, lone = _vanish(mechanism.listing_probability(1))
    appear = swapped(vanish)
    cases = [
        (independent(vanish, appear), lone * lone),
        (independent(vanish, moves), lone * scale),
        (independent(moves, appear), scale * lone),
    ]
    worst = largest_ratio(moves) ** 2
    delta = max(hockey_stick(pairs, factor, size) for pairs, size in cases)
    if worst > factor:  # otherwise two moving counts lose nothing, and a million pairs need not be added up
        delta = max(delta, hockey_stick(independent(moves, moves), factor, scale * scale))
    ratios = [worst, largest_ratio(appear) * largest_ratio(moves)]
    return Finding(NAME, claim, log_above(max(ratios)), delta)


def _vanish(listed: Fraction) -> tuple[list[Pair], int]:
    """The pairs of a record that only one user has, and that the neighbour lacks: listed or not."""
    return [(listed.numerator, 0), (listed.denominator - listed.numerator, listed.denominator)], listed.denominator
