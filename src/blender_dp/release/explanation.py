"""Why a list is empty and what would help, in public numbers only."""

from __future__ import annotations

from blender_dp.privacy.rounding import readable
from blender_dp.release.manifest import Manifest


def why_empty(manifest: Manifest) -> str:
    """An explanation of a release without listed queries.

    The threshold follows from ε and δ, and the sizes of the groups are published, so this reveals nothing about a record.
    """
    users, threshold, settings = manifest.discovery_users, float(manifest.threshold), manifest.settings
    needed = f"about {threshold:,.0f} of the {users:,} discovery users must have the same record"
    if threshold >= users:
        reason = f"A list is impossible: {needed}"
    else:
        reason = f"Not enough users had the same record: {needed} ({threshold / users:.2%})"
    budget = f"ε = {readable(settings.epsilon)} and δ = {readable(settings.delta)}"
    return (
        f"{reason}, at {budget}. What would help: more opt-in users (doubling them halves the required share), public "
        "candidates (they need no threshold), or a larger ε (doubling it halves the required number of users, but "
        "increases every user's privacy loss). A larger δ helps little and exposes people."
    )
