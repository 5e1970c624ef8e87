"""Discovery with bounded noise: the same task as `laplace_threshold`, with nothing of ε and δ left over."""

from blender_dp.mechanisms.truncated_geometric.audit import audit
from blender_dp.mechanisms.truncated_geometric.mechanism import TruncatedGeometric

__all__ = ["TruncatedGeometric", "audit"]
