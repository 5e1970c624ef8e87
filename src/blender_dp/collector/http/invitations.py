"""The invitation to a campaign, as its operator publishes it: a link, a file and a QR code."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from blender_dp.collector.campaign import UNLIMITED, CampaignSettings, Decimal
from blender_dp.collector.http.view_messages import InvitationShown
from blender_dp.errors import ParameterError
from blender_dp.invitation import Invitation
from blender_dp.qr_code import qr_code, qr_svg

PublicUrl = Annotated[str, Query(max_length=800, description="URL of the collector as devices reach it: https.")]
LifetimeEpsilon = Annotated[
    Decimal | None, Query(description="ε that one device may spend in all rounds together; default: the campaign's limit.")
]


def invitation_shown(
    settings: CampaignSettings, campaign: str, key: str, public_url: str, lifetime_epsilon: str | None
) -> InvitationShown:
    """Everything that a device pins. It contains nothing secret."""
    lifetime = lifetime_epsilon or settings.max_epsilon
    if lifetime == UNLIMITED:
        raise ParameterError("lifetime-epsilon", "the campaign has no limit, so a device needs its own", "Enter a number")
    invitation = Invitation.of(
        collector=public_url,
        key=key,
        campaign=campaign,
        epsilon=settings.epsilon,
        delta=settings.delta,
        lifetime_epsilon=lifetime,
        name=settings.name,
    )
    link = invitation.link
    return InvitationShown(link=link, invitation=invitation, qr_code=qr_svg(qr_code(link)))
