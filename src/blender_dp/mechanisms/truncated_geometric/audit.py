"""The exact loss of discovery with bounded noise, from its integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

from blender_dp.arithmetic import exp_bounds, log_above
from blender_dp.mechanisms.truncated_geometric.mechanism import TruncatedGeometric
from blender_dp.privacy.divergence import Pair, hockey_stick, independent, largest_ratio, swapped
from blender_dp.privacy.finding import Finding, nothing_holds
from blender_dp.privacy.loss import Loss
from blender_dp.sampling.capped import CappedGeometric
from blender_dp.sampling.discrete import WORD

NAME = "discovery"


def audit(mechanism: TruncatedGeometric, claim: Loss) -> Finding:
    """Compute the worst case over all neighbours: one record loses a user, another one gains it.

    Either can be unique to that user, and then it exists in one data set only: it is listed or not, where a record that
    exists in both has its noisy count seen, which tells more.
    """
    if not mechanism.is_sound:
        return nothing_holds(NAME, claim)
    factor = exp_bounds(claim.epsilon)[0]
    lonely = [(mechanism.noise.weights[-1] * WORD, 0), ((WORD - mechanism.noise.weights[-1]) * WORD, WORD * WORD)]
    losing = [_shift(mechanism.noise), lonely]
    cases = [(loss, swapped(gain)) for loss, gain in product(losing, losing)]
    worst = max(largest_ratio(loss) * largest_ratio(gain) for loss, gain in cases)
    return Finding(NAME, claim, log_above(worst), max(_divergence(*case, factor) for case in cases))


def _divergence(loss: list[Pair], gain: list[Pair], factor: Fraction) -> Fraction:
    """The exact δ of one record that loses a user beside one that gains it."""
    if largest_ratio(loss) * largest_ratio(gain) > factor:
        return hockey_stick(independent(loss, gain), factor, WORD**4)
    # What both neighbours can give adds nothing, so a square of pairs need not be added up: what one cannot give counts.
    shared = [sum(p for p, q in pairs if q) for pairs in (loss, gain)]
    return 1 - Fraction(shared[0] * shared[1], WORD**4)


def _shift(noise: CappedGeometric) -> list[Pair]:
    """The pairs of one count and of the next lower one, over 2^128. Outputs far down, of one ratio, are one pair."""
    bottom = noise.below * (WORD - noise.more)  # of exactly 0
    upper = [bottom, *(weight * WORD for weight in noise.weights), 0]
    return [(noise.below * noise.more, noise.below * WORD), *pairwise(upper)]
