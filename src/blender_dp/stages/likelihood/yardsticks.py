"""What experiments compare a blend with: the best estimate from the clients alone, and the smallest possible variance."""

from __future__ import annotations

from dataclasses import dataclass

from blender_dp.stages.estimator import Context, Result
from blender_dp.stages.layout import Estimate, Floats, Integers
from blender_dp.stages.likelihood.bound import cramer_rao
from blender_dp.stages.likelihood.estimator import Calibration, all_evidence, scale_of
from blender_dp.stages.likelihood.fit import fit
from blender_dp_device.channel.subset import AnyChannel


@dataclass(frozen=True)
class Yardsticks:
    """The clients' best estimates, non-negative and summing to 1 like the blend, and the bounds of queries' variances."""

    cells: Estimate
    queries: Estimate
    query_bounds: Floats

    @classmethod
    def of(
        cls,
        calibrated: Calibration,
        result: Result,
        reports: Integers,
        channel: AnyChannel,
        context: Context,
        true_shares: Floats,
    ) -> Yardsticks:
        """Compute them for one collection whose true shares of the cells are known."""
        evidence = all_evidence(calibrated, result.client, reports, channel, context)
        alone = fit(evidence.of_clients(), scale_of(context))
        return cls(
            Estimate(alone.shares, alone.variance),
            Estimate(alone.query_shares, alone.query_variance),
            cramer_rao(evidence, true_shares)[1],
        )
