"""The parameters of a collection that can be an axis of an experiment's grid."""

from __future__ import annotations

from blender_dp.parameters.parameters import definitions

_NOT_ON_COUNTS = {"m_o", "m_c", "candidates", "allow_weak_privacy"}

AXES = tuple(name for name in definitions() if name not in _NOT_ON_COUNTS)
"""All but a few: experiments on counts have one record per user, no candidates, and no one to protect."""
