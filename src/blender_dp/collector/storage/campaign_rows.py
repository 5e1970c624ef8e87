"""Rows of campaigns."""

from __future__ import annotations

from functools import lru_cache

import sqlalchemy as sa

from blender_dp.collector.campaign import CampaignSettings, is_id
from blender_dp.collector.storage.schema import campaigns
from blender_dp.collector.storage.transactions import Transaction
from blender_dp.errors import StateError


def insert(transaction: Transaction, campaign_id: str, settings: CampaignSettings, created: int) -> None:
    """Add a campaign."""
    row = {"id": campaign_id, "name": settings.name, "settings": settings.model_dump_json(), "created": created}
    transaction.execute(campaigns.insert(), row)


def has_name(transaction: Transaction, name: str) -> bool:
    """Whether a campaign of this name exists."""
    return transaction.scalar(sa.select(campaigns.c.id).where(campaigns.c.name == name)) is not None


def find_id(transaction: Transaction, campaign: str) -> str:
    """The id of a campaign given by its name or its id: one lookup in an index, without reading the settings."""
    column = campaigns.c.id if is_id(campaign) else campaigns.c.name
    campaign_id: str | None = transaction.scalar(sa.select(campaigns.c.id).where(column == campaign))
    if campaign_id is None:
        raise _unknown()
    return campaign_id


def settings_of(transaction: Transaction, campaign_id: str) -> CampaignSettings:
    """The settings of a campaign."""
    text = transaction.scalar(sa.select(campaigns.c.settings).where(campaigns.c.id == campaign_id))
    if text is None:
        raise _unknown()
    return parsed(text)


def all_settings(transaction: Transaction, campaign: str | None = None) -> list[tuple[str, CampaignSettings]]:
    """The ids and settings of all campaigns, or of the one with this name or id, oldest first."""
    chosen = sa.select(campaigns.c.id, campaigns.c.settings).order_by(campaigns.c.created)
    if campaign is not None:
        chosen = chosen.where(campaigns.c.id == find_id(transaction, campaign))
    return [(row.id, parsed(row.settings)) for row in transaction.execute(chosen)]


@lru_cache(maxsize=256)
def parsed(text: str) -> CampaignSettings:
    """The settings as an object. They never change, and validating them is slow."""
    return CampaignSettings.stored(text)


def _unknown() -> StateError:
    return StateError("campaign", "unknown", "List the campaigns to see which exist", kind="missing")
