"""The exact loss of discovery with bounded noise, from its integers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

from blender_dp.arithmetic import exp_bounds, log_above
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram, shift
from blender_dp.mechanisms.truncated_geometric.mechanism import TruncatedGeometric
from blender_dp.privacy.divergence import Pair, hockey_stick, independent, largest_ratio, swapped
from blender_dp.privacy.finding import Finding, nothing_holds
from blender_dp.privacy.loss import Loss
from blender_dp.sampling.capped import CappedGeometric
from blender_dp.sampling.discrete import WORD

NAME = "discovery"

Scaled = tuple[list[Pair], int]
"""Pairs, and what their weights are over."""


def audit(mechanism: TruncatedGeometric, claim: Loss, candidates: LaplaceHistogram | None = None) -> Finding:
    """Compute the worst case over all neighbours: one record loses a user, another one gains it.

    Either can be unique to that user, and then it exists in one data set only: it is listed or not, where a record that
    exists in both has its noisy count seen, which tells more. With `candidates` either can be public, and counted so.
    """
    if not mechanism.is_sound or not (candidates is None or candidates.noise.is_sound):
        return nothing_holds(NAME, claim)
    factor = exp_bounds(claim.epsilon)[0]
    lonely = [(mechanism.noise.weights[-1] * WORD, 0), ((WORD - mechanism.noise.weights[-1]) * WORD, WORD * WORD)]
    losing: list[Scaled] = [(_shift(mechanism.noise), WORD**2), (lonely, WORD**2)]
    if candidates is not None:
        losing.append(shift(candidates.noise))
    cases = [(loss, (swapped(gain), scale)) for loss, (gain, scale) in product(losing, losing)]
    worst = max(largest_ratio(loss) * largest_ratio(gain) for (loss, _), (gain, _) in cases)
    return Finding(NAME, claim, log_above(worst), max(_divergence(*case, factor) for case in cases))


def _divergence(losing: Scaled, gaining: Scaled, factor: Fraction) -> Fraction:
    """The exact δ of one record that loses a user beside one that gains it."""
    (loss, one), (gain, other) = losing, gaining
    if largest_ratio(loss) * largest_ratio(gain) > factor:
        return hockey_stick(independent(loss, gain), factor, one * other)
    # What both neighbours can give adds nothing, so a square of pairs need not be added up: what one cannot give counts.
    shared = [sum(p for p, q in pairs if q) for pairs in (loss, gain)]
    return 1 - Fraction(shared[0] * shared[1], one * other)


def _shift(noise: CappedGeometric) -> list[Pair]:
    """The pairs of one count and of the next lower one, over 2^128. Outputs far down, of one ratio, are one pair."""
    bottom = noise.below * (WORD - noise.more)  # of exactly 0
    upper = [bottom, *(weight * WORD for weight in noise.weights), 0]
    return [(noise.below * noise.more, noise.below * WORD), *pairwise(upper)]
