"""Discovery with bounded noise: the same task as `laplace_threshold`, but it uses all of ε and δ."""

from blender_dp.mechanisms.truncated_geometric.audit import audit
from blender_dp.mechanisms.truncated_geometric.mechanism import TruncatedGeometric

__all__ = ["TruncatedGeometric", "audit"]
