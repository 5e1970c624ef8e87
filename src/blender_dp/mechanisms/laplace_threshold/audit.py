"""The exact loss of discovery, from the integers of its noise and threshold."""

from __future__ import annotations

from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram, shift
from blender_dp.mechanisms.laplace_threshold.mechanism import LaplaceThreshold
from blender_dp.privacy.divergence import substituted, vanishing
from blender_dp.privacy.finding import Finding, nothing_holds
from blender_dp.privacy.loss import Loss
from blender_dp.privacy.rounding import log_above
from blender_dp_device.arithmetic import exp_bounds

NAME = "discovery"


def audit(mechanism: LaplaceThreshold, claim: Loss, candidates: LaplaceHistogram | None = None) -> Finding:
    """Compute the worst case over all neighbours: one record loses a user and another one gains a user.

    Either record can be unique to that user, and then it exists in one data set only. Counts that stay positive are
    covered by the untruncated noise, because the threshold is post-processing. With `candidates` either record can be
    public and is then counted with the candidates' noise.
    """
    if not mechanism.is_sound or not (candidates is None or candidates.noise.is_sound):
        return nothing_holds(NAME, claim)
    losing = [shift(mechanism.noise), vanishing(mechanism.listing_probability(1))]
    if candidates is not None and candidates.noise != mechanism.noise:
        losing.append(shift(candidates.noise))
    worst, delta = substituted(losing, exp_bounds(claim.epsilon)[0])
    return Finding(NAME, claim, log_above(worst), delta)
