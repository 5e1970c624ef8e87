"""Calibration: noisy counts of the cells of a public list."""

from blender_dp.mechanisms.laplace_histogram.audit import audit, shift
from blender_dp.mechanisms.laplace_histogram.mechanism import LaplaceHistogram

__all__ = ["LaplaceHistogram", "audit", "shift"]
