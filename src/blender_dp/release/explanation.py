"""Why a list can be empty, and what would help: said with public numbers only."""

from __future__ import annotations

from blender_dp.privacy.rounding import readable
from blender_dp.release.manifest import Manifest


def why_empty(manifest: Manifest) -> str:
    """A sentence or two for whoever got a release without a listed query.

    The threshold follows from ε and δ, and the sizes of the groups are published, so this tells nothing about a record.
    """
    users, threshold, settings = manifest.discovery_users, float(manifest.threshold), manifest.settings
    needed = f"about {threshold:,.0f} of the {users:,} discovery users have to hold the same record"
    if threshold >= users:
        reason = f"No list can come of this: {needed}"
    else:
        reason = f"No record was held by enough users: {needed} ({threshold / users:.2%})"
    budget = f"ε = {readable(settings.epsilon)} and δ = {readable(settings.delta)}"
    return (
        f"{reason}, at {budget}. What would help: more opt-in users (twice as many halve the share that is needed), public "
        "candidates (they need no threshold), or a larger ε (twice the ε needs about half as many users, and everybody's "
        "privacy loss grows with it). A larger δ helps little, and exposes people."
    )
