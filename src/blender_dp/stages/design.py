"""Choose the clients' channel for a list by its predicted error, before anyone reports."""

from __future__ import annotations

from collections.abc import Sequence

from blender_dp.stages.estimator import Context
from blender_dp.stages.likelihood.choice import likely_best
from blender_dp.stages.likelihood.estimator import discovery_evidence, scale_of
from blender_dp.stages.likelihood.fit import fit
from blender_dp.stages.response import Response
from blender_dp_device.channel.subset import AnyChannel


def best_channel(context: Context, channels: Sequence[AnyChannel], clients: int) -> int:
    """The index of the channel with the smallest predicted error for about this many clients.

    It depends on the list and its noisy counts, which are already public, so the choice costs no privacy.
    """
    known = discovery_evidence(context)
    return likely_best(known, fit(known, scale_of(context)), clients, [Response.of(channel) for channel in channels])
