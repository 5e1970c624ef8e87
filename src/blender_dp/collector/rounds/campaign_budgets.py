"""The budgets of campaigns, computed from the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.rounds.budget import Budget, budgets
from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.rounds.ledger import stored_entries
from blender_dp.collector.secrets.ledger_chain import Entry
from blender_dp.collector.storage import campaign_rows, event_rows
from blender_dp.collector.storage.store import Store


@dataclass(frozen=True)
class CampaignBudget:
    """A campaign, and what each group has spent against each of its limits."""

    id: str
    settings: CampaignSettings
    budgets: list[Budget]


@dataclass(eq=False)
class CampaignBudgets:
    """Reads the ledger."""

    store: Store
    clock: Clock

    def of(self, campaign: str | None = None) -> list[CampaignBudget]:
        """What one campaign, or each of them, has spent, and what its limits are."""
        with self.store.read() as transaction:
            chosen = campaign_rows.all_settings(transaction, campaign)
            entries, ends = stored_entries(transaction), event_rows.round_ends(transaction)
        now = self.clock.now()
        return [
            CampaignBudget(campaign_id, settings, budgets(entries, campaign_id, settings, now, ends))
            for campaign_id, settings in chosen
        ]

    def ledger(self) -> list[Entry]:
        """The whole ledger, checked."""
        with self.store.read() as transaction:
            return [one.entry for one in stored_entries(transaction)]
