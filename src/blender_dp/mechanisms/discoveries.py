"""The mechanisms that discover which records to list, by the name they have in parameters and manifests."""

from __future__ import annotations

from collections.abc import Mapping

from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric

DISCOVERIES: Mapping[str, type[LaplaceThreshold] | type[TruncatedGeometric]] = {
    "laplace": LaplaceThreshold,
    "geometric": TruncatedGeometric,
}
