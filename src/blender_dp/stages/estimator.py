"""The interface between the pipeline and an estimator."""

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
    """What is public about a collection when its estimates are computed."""

    discovery: Discovery
    discovery_users: int
    discovery_noise: tuple[float, float]
    """Mean and variance of the noise on the counts of the records that had to exceed the threshold."""
    candidate_variance: float
    threshold: float
    calibration_users: int
    calibration_variance: float
    project: bool
    robust: bool


@dataclass(frozen=True)
class Result:
    """Each group's estimates, and the blended estimates."""

    opt_in: OptInEstimate
    client: ClientEstimate
    blended: Blend


class Calibrated(Protocol):
    """The result of calibration: at least the list that clients report on."""

    @property
    def head_list(self) -> HeadList:
        """The final list."""
        ...


class Estimator(Protocol):
    """Turns the private counts and reports into estimates. Everything except `calibrate` is post-processing."""

    def shortlist(self, discovered: Discovery, max_queries: int) -> Discovery:
        """The part of the discovered list that is worth calibrating."""
        ...

    def calibrate(
        self, cell_counts: Integers, discovered: Discovery, mechanism: LaplaceHistogram, max_queries: int, entropy: Entropy
    ) -> Any:  # noqa: ANN401 (a `Calibrated` that only this estimator reads)
        """Release noisy counts of the calibration users on the list."""
        ...

    def combine(self, calibrated: Any, reports: Integers, channel: AnyChannel, context: Context) -> Result:  # noqa: ANN401
        """Compute the estimates from everything that was released and reported."""
        ...
