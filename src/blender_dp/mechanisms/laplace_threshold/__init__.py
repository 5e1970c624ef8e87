"""Discovery: list the records whose noisy count exceeds a threshold."""

from blender_dp.mechanisms.laplace_threshold.audit import audit
from blender_dp.mechanisms.laplace_threshold.mechanism import LaplaceThreshold, Selection

__all__ = ["LaplaceThreshold", "Selection", "audit"]
