"""Campaigns."""

from __future__ import annotations

from dataclasses import dataclass

from blender_dp.collector.campaign import CampaignSettings, new_id
from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.storage import campaign_rows, locks
from blender_dp.collector.storage.store import Store
from blender_dp.errors import StateError


@dataclass(eq=False)
class Campaigns:
    """Creates and finds campaigns."""

    store: Store
    clock: Clock

    def create(self, settings: CampaignSettings) -> str:
        """Create a campaign, whose name must be new; return its id."""
        campaign_id = new_id()
        with self.store.write("campaign") as transaction:
            locks.hold(transaction, "campaigns")
            if campaign_rows.has_name(transaction, settings.name):
                raise StateError("campaign", "one with this name already exists", "Choose another name")
            campaign_rows.insert(transaction, campaign_id, settings, self.clock.hour())
        return campaign_id

    def all(self) -> list[tuple[str, CampaignSettings]]:
        """The ids and settings of all campaigns, oldest first."""
        with self.store.read() as transaction:
            return campaign_rows.all_settings(transaction)

    def id_of(self, campaign: str) -> str:
        """The id of a campaign given by its name or its id."""
        with self.store.read() as transaction:
            return campaign_rows.find_id(transaction, campaign)

    def settings_of(self, campaign: str) -> CampaignSettings:
        """The settings of a campaign given by its name or its id."""
        with self.store.read() as transaction:
            return campaign_rows.all_settings(transaction, campaign)[0][1]
