"""What can be looked at, and is not changed by it: campaigns, rounds, the ledger, documents, reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.rounds.budget import Budget, budgets
from blender_dp.collector.secrets import ledger_chain as ledger
from blender_dp.collector.secrets.ledger_journal import Spent
from blender_dp.collector.storage.report_counting import exported
from blender_dp.collector.storage.round_rows import (
    ListedRound,
    Round,
    campaign_id,
    find,
    newest,
    round_ends,
    rounds_opened,
    under_way,
)
from blender_dp.collector.storage.schema import campaigns, objects, reports, rounds
from blender_dp.collector.storage.schema import ledger as ledger_table
from blender_dp.collector.storage.store import Store
from blender_dp.errors import StateError
from blender_dp_device.records.reporting_list import ReportingList


@dataclass(frozen=True)
class CampaignBudget:
    """A campaign, and what each group has spent towards each of its limits."""

    id: str
    settings: CampaignSettings
    budgets: list[Budget]


class Reading:
    """All that a collector can be asked."""

    store: Store
    clock: Callable[[], float]

    def campaigns(self) -> list[tuple[str, CampaignSettings]]:
        """All campaigns."""
        with self.store.read() as connection:
            found = connection.execute(sa.select(campaigns.c.id, campaigns.c.settings).order_by(campaigns.c.created)).all()
        return [(row.id, CampaignSettings.stored(row.settings)) for row in found]

    def campaign_id(self, campaign: str) -> str:
        """The id of a campaign given by its name or its id."""
        with self.store.read() as connection:
            return campaign_id(connection, campaign)

    def round(self, name: str) -> Round:
        """How a round is now."""
        with self.store.read() as connection:
            return find(connection, name)

    def rounds_opened(self, campaign: str | None = None, before: str | None = None, limit: int = 100) -> list[ListedRound]:
        """The rounds that were opened last, the newest first; of one campaign or of all, and only those `before` another."""
        with self.store.read() as connection:
            return rounds_opened(connection, campaign, before, limit)

    def under_way(self) -> list[Round]:
        """All rounds that are not over."""
        with self.store.read() as connection:
            return under_way(connection)

    def current(self, campaign: str | None = None) -> Round | None:
        """The newest round, of one campaign or of all."""
        with self.store.read() as connection:
            return newest(connection, "opened", campaign)

    def newest_release(self, campaign: str | None = None) -> Round | None:
        """The newest round that is released, of one campaign or of all."""
        with self.store.read() as connection:
            return newest(connection, "released", campaign)

    def budgets(self, campaign: str | None = None) -> list[CampaignBudget]:
        """What one campaign, or each of them, has spent by the ledger, and what its limits are."""
        chosen = sa.select(campaigns.c.id, campaigns.c.settings).order_by(campaigns.c.created)
        with self.store.read() as connection:
            if campaign is not None:
                chosen = chosen.where(campaigns.c.id == campaign_id(connection, campaign))
            found = connection.execute(chosen).all()
            kept = connection.execute(sa.select(ledger_table).order_by(ledger_table.c.number)).all()
            ends = round_ends(connection)
        checked = ledger.check((row.entry, row.digest) for row in kept)
        entries = [Spent(row.at, entry) for row, entry in zip(kept, checked, strict=True)]
        return [
            CampaignBudget(row.id, settings, budgets(entries, row.id, settings, self.clock(), ends))
            for row, settings in ((row, _settings(row.settings)) for row in found)
        ]

    def ledger_entries(self) -> list[ledger.Entry]:
        """The whole ledger, checked."""
        with self.store.read() as connection:
            found = connection.execute(
                sa.select(ledger_table.c.entry, ledger_table.c.digest).order_by(ledger_table.c.number)
            )
            return ledger.check((row.entry, row.digest) for row in found)

    def object(self, name: str, kind: str) -> bytes | None:
        """A published document by its digest."""
        with self.store.read() as connection:
            body: bytes | None = connection.scalar(
                sa.select(objects.c.body).where(objects.c.digest == name, objects.c.kind == kind)
            )
            return body

    def exported(self, name: str) -> Iterator[bytes]:
        """The reports of a round that takes no more, piece by piece, as a file that `blender-dp aggregate` reads."""
        pieces = self._exported(name)
        return chain([next(pieces)], pieces)  # what can be refused is refused now, not when it is sent

    def _exported(self, name: str) -> Iterator[bytes]:
        with self.store.read() as connection:
            self.store.take_time(connection, slow_reader=True)
            found = find(connection, name)
            if found.state not in {"closed", "released"}:
                raise StateError("round", f"is {found.state}", "Only a round that is closed or released can be exported")
            if found.release and _told(connection, found.release) != kept(connection, name):
                raise StateError("round", "has lost reports by now", "Let the campaign keep them longer: keep_reports_days")
            made = connection.scalar(sa.select(rounds.c.listing).where(rounds.c.id == name))
            yield from exported(connection, name, ReportingList.from_document(json.loads(made or "")["head_list"]).digest)


@lru_cache(maxsize=256)
def _settings(text: str) -> CampaignSettings:
    """A campaign's settings never change, and checking them takes long."""
    return CampaignSettings.stored(text)


def kept(connection: Connection, name: str, most: int | None = None) -> int:
    """How many reports of a round there are, counted up to `most`: millions would take long."""
    some = sa.select(reports.c.id).where(reports.c.round == name).limit(most).subquery()
    return connection.scalar(sa.select(sa.func.count()).select_from(some)) or 0


def _told(connection: Connection, release: str) -> int:
    """How many reports a release was made of."""
    body = connection.scalar(sa.select(objects.c.body).where(objects.c.digest == release))
    return int(json.loads(body or b"")["content"]["release"]["manifest"]["reports"])
