"""Discovery: list the records whose noisy count exceeds a threshold."""

from blender_dp.mechanisms.laplace_threshold.audit import audit
from blender_dp.mechanisms.laplace_threshold.mechanism import LaplaceThreshold
from blender_dp.mechanisms.selector import Selection, Selector

__all__ = ["LaplaceThreshold", "Selection", "Selector", "audit"]
