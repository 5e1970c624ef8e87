"""The clients' randomiser of the profile `tight`: nothing of ε is left over."""

from blender_dp.mechanisms.subset_response.audit import audit
from blender_dp.mechanisms.subset_response.mechanism import SubsetResponse

__all__ = ["SubsetResponse", "audit"]
