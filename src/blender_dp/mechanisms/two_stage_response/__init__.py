"""Reporting: the clients' two-stage randomised response, vectorised."""

from blender_dp.mechanisms.two_stage_response.audit import NAME, audit, worst_case
from blender_dp.mechanisms.two_stage_response.mechanism import TwoStageResponse

__all__ = ["NAME", "TwoStageResponse", "audit", "worst_case"]
