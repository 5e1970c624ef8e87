"""Opening a round signs a document that devices verify before they upload, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.storage.migrate import migrate
from blender_dp.collector.storage.round_rows import Round
from blender_dp.collector.storage.schema import rounds as table
from blender_dp_device.digests import document_digest
from blender_dp_device.wire.documents import verified_content
from tests.collector.places import NOON, Place, settings

DAY = 86_400


def opening(rounds: Rounds, found: Round) -> dict[str, Any]:
    body = rounds.published.document(found.opening or "", "opening") or b""
    assert document_digest(body) == found.opening
    return verified_content(body, "opening", rounds.signer.public)


def test_an_opening_names_the_round_and_the_promise(rounds: Rounds) -> None:
    campaign = rounds.campaigns.create(settings(epsilon="2.50", delta="1e-6", list_days=7))
    made = rounds.lifecycle.open(campaign)
    assert opening(rounds, made) == {
        "campaign": campaign,
        "round": 1,
        "round_id": made.id,
        "epsilon": "2.50",  # exactly as in the campaign
        "delta": "1e-6",
        "expires": NOON // 3600 * 3600 + 7 * DAY,
    }
    assert rounds.lookup.current(campaign).opening == rounds.lookup.round(made.id).opening == made.opening  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("times", "expires"),
    [
        ({}, NOON // 3600 * 3600 + 30 * DAY),
        # A round that has too few users at lists_at waits for more, so devices must still be able to upload.
        ({"lists_at": NOON + 10 * DAY}, NOON + 40 * DAY),
        ({"lists_at": NOON - 10 * DAY}, NOON // 3600 * 3600 + 30 * DAY),
        ({"closes_at": NOON + DAY}, NOON + DAY),
        ({"lists_at": NOON + DAY, "closes_at": NOON + 2 * DAY}, NOON + 2 * DAY),
    ],
)
def test_an_opening_expires(rounds: Rounds, times: dict[str, int], expires: int) -> None:
    made = rounds.lifecycle.open(rounds.campaigns.create(settings()), **times)
    assert opening(rounds, made)["expires"] == expires


def test_every_round_has_its_own_opening(rounds: Rounds) -> None:
    campaign = rounds.campaigns.create(settings())
    first = rounds.lifecycle.open(campaign)
    rounds.lifecycle.abort(first.id, "enough")
    second = rounds.lifecycle.open(campaign)
    assert [opening(rounds, one)["round"] for one in (first, second)] == [1, 2]
    assert rounds.lookup.round(first.id).opening == first.opening  # it stays published


def test_round_and_opening_exist_together_or_not_at_all(rounds: Rounds) -> None:
    campaign = rounds.campaigns.create(settings())

    def fails(inside: Rounds) -> str:
        inside.lifecycle.open(campaign)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rounds.idempotency.once("key", "asked", 201, fails)
    with rounds.store.read() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM objects")) == 0
    for _ in range(2):
        body = rounds.idempotency.once(
            "key", "asked", 201, lambda inside: json.dumps(inside.lifecycle.open(campaign).opening)
        ).body
    with rounds.store.read() as connection:
        assert connection.scalars(sa.text("SELECT digest FROM objects")).all() == [json.loads(body)]


def test_a_round_opened_before_the_migration_has_no_opening(empty_place: Place) -> None:
    """It continues, but devices, which require a signed opening, do not upload to it."""
    store = empty_place.store()
    migrate(store, "0001")
    rounds = empty_place.rounds(migrated=False)
    campaign = {"id": "c" * 32, "name": "searches", "settings": settings().model_dump_json(), "created": NOON}
    with store.write("open") as connection:
        connection.execute(sa.text("INSERT INTO campaigns VALUES (:id, :name, :settings, :created)"), campaign)
        connection.execute(
            sa.text("INSERT INTO rounds (id, campaign, number, state, created) VALUES (:id, :campaign, 1, 'open', 0)"),
            {"id": "1" * 32, "campaign": "c" * 32},
        )
    migrate(store)
    assert rounds.lookup.round("1" * 32).opening is None
    rounds.keys.create("1" * 32)
    for token in rounds.tokens.enrol("c" * 32, 6):
        rounds.contributions.upload_record("1" * 32, token, "alpha", "https://one.example/")
    rounds.lifecycle.freeze("1" * 32)
    assert rounds.lookup.round("1" * 32).state == "listing"
    assert "opening" in table.c
