"""What the pipeline asks of an estimator, and what it gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.sampling import Entropy
from blender_dp.stages.blending import Blend
from blender_dp.stages.calibration import OptInEstimate
from blender_dp.stages.denoising import ClientEstimate
from blender_dp.stages.discovery import Discovery
from blender_dp.stages.layout import Integers
from blender_dp_device.channel.subset import AnyChannel
from blender_dp_device.records.head_list import HeadList


@dataclass(frozen=True)
class Context:
    """What is public about a collection when its estimates are made."""

    discovery: Discovery
    discovery_users: int
    discovery_noise: tuple[float, float]
    """Mean and variance of the noise on the counts of records that had to pass the threshold."""
    candidate_variance: float
    threshold: float
    calibration_users: int
    calibration_variance: float
    project: bool
    robust: bool


@dataclass(frozen=True)
class Result:
    """Each group's estimates, and those of both together."""

    opt_in: OptInEstimate
    client: ClientEstimate
    blended: Blend


class Calibrated(Protocol):
    """What calibration leaves: at least the list that clients report against."""

    @property
    def head_list(self) -> HeadList:
        """The final list."""
        ...


class Estimator(Protocol):
    """Turns the private counts and reports into estimates. All of it but `calibrate` is post-processing."""

    def shortlist(self, found: Discovery, max_queries: int) -> Discovery:
        """What of the found list is worth calibrating."""
        ...

    def calibrate(
        self, cell_counts: Integers, found: Discovery, mechanism: LaplaceHistogram, max_queries: int, entropy: Entropy
    ) -> Any:  # noqa: ANN401 (a `Calibrated` that only this estimator looks into)
        """Release what the calibration users say about the list."""
        ...

    def combine(self, calibrated: Any, reports: Integers, channel: AnyChannel, context: Context) -> Result:  # noqa: ANN401
        """Estimate from everything that was released and reported."""
        ...
