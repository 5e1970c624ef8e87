"""Everything that can be done with campaigns and rounds, composed of parts with explicit dependencies."""

from __future__ import annotations

from blender_dp.collector.rounds.campaign_budgets import CampaignBudgets
from blender_dp.collector.rounds.campaigns import Campaigns
from blender_dp.collector.rounds.clock import Clock
from blender_dp.collector.rounds.contributions import Contributions
from blender_dp.collector.rounds.idempotency import Idempotency
from blender_dp.collector.rounds.ledger import Ledger
from blender_dp.collector.rounds.lifecycle import Lifecycle
from blender_dp.collector.rounds.list_maker import ListMaker
from blender_dp.collector.rounds.lookup import Lookup
from blender_dp.collector.rounds.published import Published
from blender_dp.collector.rounds.release_maker import ReleaseMaker
from blender_dp.collector.rounds.retention import Retention
from blender_dp.collector.rounds.schedule import Schedule
from blender_dp.collector.rounds.tokens import Tokens
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.secrets.ledger_journal import Journal
from blender_dp.collector.secrets.round_endings import Endings
from blender_dp.collector.secrets.signing import Signer
from blender_dp.collector.storage.report_counting import Counting
from blender_dp.collector.storage.store import Store


class Rounds:
    """The parts of a collector, around one database and one folder of keys."""

    def __init__(
        self,
        store: Store,
        keys: KeyFolder,
        signer: Signer,
        clock: Clock | None = None,
        counting: Counting | None = None,
    ) -> None:
        self.store = store
        self.keys = keys
        self.signer = signer
        self.clock = clock = clock or Clock()
        self.counting = counting = counting or Counting()
        self.journal = Journal(keys.folder)
        self.endings = endings = Endings(keys.folder)
        self.ledger = ledger = Ledger(self.journal)
        self.campaigns = Campaigns(store, clock)
        self.tokens = Tokens(store, clock)
        self.contributions = Contributions(store, keys)
        self.lookup = Lookup(store)
        self.published = Published(store)
        self.budgets = CampaignBudgets(store, clock)
        self.lifecycle = Lifecycle(store, keys, ledger, endings, signer, clock)
        self.lists = ListMaker(store, keys, ledger, signer, clock)
        self.releases = ReleaseMaker(store, endings, signer, clock, counting, self.lifecycle)
        self.retention = Retention(store, keys, clock)
        self.schedule = Schedule(
            store, keys, endings, clock, self.lookup, self.lifecycle, self.lists, self.releases, self.retention, counting
        )
        self.idempotency = Idempotency(store, clock, self._inside)

    def _inside(self, store: Store) -> Rounds:
        """The same parts on another store."""
        return Rounds(store, self.keys, self.signer, self.clock, self.counting)
