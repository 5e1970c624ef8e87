"""The exact loss of discovery with bounded noise, from its integers."""

from __future__ import annotations

from itertools import pairwise

from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram, shift
from blender_dp.mechanisms.truncated_geometric.mechanism import TruncatedGeometric
from blender_dp.privacy.divergence import Pair, Scaled, substituted, vanishing
from blender_dp.privacy.finding import Finding, nothing_holds
from blender_dp.privacy.loss import Loss
from blender_dp.privacy.rounding import log_above
from blender_dp.sampling.capped import CappedGeometric
from blender_dp.sampling.discrete import WORD
from blender_dp_device.arithmetic import exp_bounds

NAME = "discovery"


def audit(mechanism: TruncatedGeometric, claim: Loss, candidates: LaplaceHistogram | None = None) -> Finding:
    """Compute the worst case over all neighbours: one record loses a user and another one gains a user.

    Either record can be unique to that user, and then it exists in one data set only: it is listed or not, with the
    probability that follows from the selector's threshold. For a record that exists in both, the noisy count itself is
    compared, which reveals more. With `candidates` either record can be public and is then counted as a candidate.
    """
    if not mechanism.is_sound or not (candidates is None or candidates.noise.is_sound):
        return nothing_holds(NAME, claim)
    losing: list[Scaled] = [(_shift(mechanism.noise), WORD**2), vanishing(mechanism.listing_probability(1))]
    if candidates is not None:
        losing.append(shift(candidates.noise))
    worst, delta = substituted(losing, exp_bounds(claim.epsilon)[0])
    return Finding(NAME, claim, log_above(worst), delta)


def _shift(noise: CappedGeometric) -> list[Pair]:
    """The pairs of one count and the next lower one, over 2^128. The lower tail has one ratio, so it is one pair."""
    bottom = noise.below * (WORD - noise.more)  # the weight of exactly 0
    upper = [bottom, *(weight * WORD for weight in noise.weights), 0]
    return [(noise.below * noise.more, noise.below * WORD), *pairwise(upper)]
