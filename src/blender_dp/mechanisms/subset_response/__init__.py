"""The clients' randomiser of the profile `tight`: it uses all of ε."""

from blender_dp.mechanisms.subset_response.audit import audit, worst_case
from blender_dp.mechanisms.subset_response.mechanism import SubsetResponse

__all__ = ["SubsetResponse", "audit", "worst_case"]
