"""Reporting: the clients' two-stage randomised response, vectorised."""

from blender_dp.mechanisms.two_stage_response.audit import audit, worst_case
from blender_dp.mechanisms.two_stage_response.mechanism import TwoStageResponse

__all__ = ["TwoStageResponse", "audit", "worst_case"]
