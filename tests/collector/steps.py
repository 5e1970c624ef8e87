"""Steps that several tests share: reading the database, and advancing rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.storage.report_counting import count_in_database
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.wire.documents import verified_content
from tests.collector.places import NOON, listed, report, settings

DAY = 86_400


def rows(rounds: Rounds, statement: Any) -> list[Any]:
    with rounds.store.read() as connection:
        return list(connection.execute(statement).all())


def spent(rounds: Rounds, name: str) -> list[str]:
    return [entry.group for entry in rounds.budgets.ledger() if entry.round == name]


def counted(rounds: Rounds, name: str) -> dict[int, int]:
    """How often every cell was counted."""
    with rounds.store.read() as connection:
        counts, _ = count_in_database(connection, name, 1000)
    return {int(cell): int(counts[cell]) for cell in np.flatnonzero(counts)}


def released(rounds: Rounds, campaign: str | None = None, users: int = 24, **changes: Any) -> str:
    """Run a whole round; return its campaign."""
    made = listed(rounds, users, campaign, **changes)
    rounds.contributions.add_reports(made.round, [report(i) for i in range(4)])
    rounds.lifecycle.close(made.round)
    rounds.releases.make(made.round)
    return made.campaign


def listed_with(rounds: Rounds, campaign: str, queries: list[str]) -> set[tuple[str, Any]]:
    """Make a list from 24 users' queries; return its entries."""
    made = rounds.lifecycle.open(campaign)
    for place, token in enumerate(rounds.tokens.enrol(campaign, 24)):
        rounds.contributions.upload_record(
            made.id, token, queries[place % len(queries)], None if len(queries) > 2 else "https://a.example/"
        )
    rounds.lifecycle.freeze(made.id)
    rounds.lists.make(made.id)
    return {*HeadList.from_document(content_of(rounds, made.id)["head_list"]).entries}


def finished(rounds: Rounds, campaign: str, first: int = 0) -> None:
    """Take the current round from its list to its release."""
    name = rounds.lookup.current(campaign).id  # type: ignore[union-attr]
    rounds.contributions.add_reports(name, [report(first + i) for i in range(4)])
    rounds.lifecycle.close(name)
    rounds.releases.make(name)


def scheduled(rounds: Rounds, name: str = "searches") -> str:
    """A round whose list is due."""
    campaign = rounds.campaigns.create(settings(name))
    made = rounds.lifecycle.open(campaign, lists_at=NOON)
    for token in rounds.tokens.enrol(campaign, 10):
        rounds.contributions.upload_record(made.id, token, "alpha", None)
    return made.id


def content_of(rounds: Rounds, name: str) -> dict[str, Any]:
    body = rounds.published.document(rounds.lookup.round(name).head_list or "", "head-list") or b""
    return verified_content(body, "head-list", rounds.signer.public)
