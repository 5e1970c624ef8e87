"""The papers' estimator: an estimate from each group, averaged by their variances."""

from __future__ import annotations

from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.sampling import Entropy
from blender_dp.stages.blending import blend
from blender_dp.stages.calibration import OptInEstimate, calibrate
from blender_dp.stages.denoising import denoise
from blender_dp.stages.discovery import Discovery
from blender_dp.stages.estimator import Context, Result
from blender_dp.stages.layout import Integers
from blender_dp_device.channel.subset import AnyChannel


class Averaging:
    """Calibration users choose the top queries and estimate them; discovery's counts are not used again."""

    def shortlist(self, discovered: Discovery, max_queries: int) -> Discovery:
        """Return the whole list: queries are dropped only after calibration."""
        return discovered

    def calibrate(
        self, cell_counts: Integers, discovered: Discovery, mechanism: LaplaceHistogram, max_queries: int, entropy: Entropy
    ) -> OptInEstimate:
        """Release noisy shares, and restrict the list to its top queries."""
        return calibrate(cell_counts, discovered.head_list, mechanism, max_queries, entropy)

    def combine(self, calibrated: OptInEstimate, reports: Integers, channel: AnyChannel, context: Context) -> Result:
        """Invert the channel, and average."""
        client = denoise(reports, channel)
        return Result(calibrated, client, blend(calibrated, client, project=context.project))
