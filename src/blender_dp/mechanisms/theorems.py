"""What the theorems about the opt-in users' mechanisms cover."""

from __future__ import annotations

from blender_dp.errors import OutsideTheoremError


def check_one_record(records: int, stage: str, theorem: str) -> None:
    """Refuse more than one record per opt-in user: no theorem covers it."""
    if records != 1:
        problem = f"{stage} is proved for 1 record per opt-in user, not {records}"
        raise OutsideTheoremError("m_o", problem, "Set m_o to 1", theorem=theorem)
