"""Making the list of a round: its noise, its candidates, and that nothing prevents it."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds import opt_in_listing as listing
from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets import vault
from blender_dp.collector.storage.schema import rounds as rounds_table
from blender_dp.engines import DuckDBEngine
from tests.collector.places import NOON, QUERIES, Place, listed, report, settings, uploaded
from tests.collector.steps import DAY, content_of, finished, listed_with, rows


@pytest.mark.parametrize("end", ["list", "abort"])
def test_the_noise_secret_is_deleted(rounds: Rounds, end: str) -> None:
    made = uploaded(rounds)
    rounds.lifecycle.freeze(made.round)
    assert rows(rounds, sa.select(rounds_table.c.noise))[0].noise is not None
    if end == "list":
        rounds.lists.make(made.round)
    else:
        rounds.lifecycle.abort(made.round, "enough")
    assert rows(rounds, sa.select(rounds_table.c.noise))[0].noise is None


def test_every_round_has_its_own_noise(rounds: Rounds) -> None:
    secrets = []
    for name in ("one", "two"):
        made = uploaded(rounds, users=6, name=name)
        rounds.lifecycle.freeze(made.round)
        (sealed,) = rows(rounds, sa.select(rounds_table.c.noise).where(rounds_table.c.id == made.round))
        secrets.append(vault.unseal_secret(rounds.keys.read(made.round), f"{made.round}/noise", sealed.noise).value)
    assert [len(one) for one in secrets] == [32, 32]
    assert len({*secrets, bytes(32)}) == 3


def test_raw_records_are_not_written_to_disk_while_the_list_is_made(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    made, places = uploaded(rounds), []

    class Seen(DuckDBEngine):
        def __init__(self, **more: Any) -> None:
            super().__init__(**more)
            places.append(self._connection.cursor().execute("SELECT current_setting('temp_directory')").fetchone())

    monkeypatch.setattr("blender_dp.engines.DuckDBEngine", Seen)
    rounds.lifecycle.freeze(made.round)
    rounds.lists.make(made.round)
    assert places == [("",)]


@pytest.mark.parametrize("meanwhile", ["listed", "aborted"])
def test_a_process_that_is_too_late_with_a_list_has_not_failed(
    place: Place, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    """The key is gone, and the records are unreadable: the faster process has destroyed it."""
    one, other = place.rounds(), place.rounds()
    made = uploaded(one)
    one.lifecycle.freeze(made.round)
    with monkeypatch.context() as patch:

        def overtaken(point: str) -> None:
            if point == "list: before work":
                patch.undo()
                other.lists.make(made.round) if meanwhile == "listed" else other.lifecycle.abort(made.round, "stop")

        patch.setattr("blender_dp.collector.rounds.list_maker.reached", overtaken)
        one.lists.make(made.round)
    assert one.lookup.round(made.round).state == meanwhile


def test_candidates_come_from_the_last_released_list_of_the_campaign(rounds: Rounds) -> None:
    campaign, other = rounds.campaigns.create(settings()), rounds.campaigns.create(settings("other"))
    known = listed_with(rounds, campaign, ["alpha", "beta"])
    finished(rounds, campaign)
    for _ in range(2):  # its second release is the newest, and later than the first of ours
        elsewhere = listed_with(rounds, other, ["gamma", "delta"])
        finished(rounds, other)
    aborted = listed_with(rounds, campaign, ["epsilon", "zeta"])
    rounds.lifecycle.abort(rounds.lookup.current(campaign).id, "its list does not count")  # type: ignore[union-attr]
    assert known
    assert elsewhere - known
    assert aborted - known - elsewhere
    listed_with(rounds, campaign, [f"rare {place}" for place in range(24)])  # nothing that would pass the threshold
    with rounds.store.read() as connection:
        texts = connection.scalars(sa.text("SELECT listing FROM rounds WHERE number = 3")).all()
    found = listing.load(texts[0], settings().collection()).context.discovery
    assert found.is_candidate.any()
    assert {*found.head_list.entries} & known
    assert not {*found.head_list.entries} & ((aborted | elsewhere) - known)


@pytest.mark.parametrize(
    "queries",
    [
        ["x"] * 6,
        ["\x00", "\x00", "a\x00b", "a\x00b", "\u2028", "\U0010ffff"] * 2,
        ["", " ", "\t", "\n", "", " "] * 2,
        ["ﬁ", "ß", "İ", "e\u0301", "\u202e", "🏳️‍🌈"] * 2,
        ['"', "'", "'; DROP TABLE rounds; --", "\\", "{", "%s"] * 2,
        ["q" * 2048] * 12,
    ],
)
def test_no_record_can_prevent_the_list(rounds: Rounds, queries: list[str]) -> None:
    """The budget is spent before the list is made, so it must succeed whatever was uploaded."""
    campaign = rounds.campaigns.create(settings(min_opt_in=4, f_o="0.9"))
    made = rounds.lifecycle.open(campaign)
    for place, (token, query) in enumerate(zip(rounds.tokens.enrol(campaign, len(queries)), queries, strict=True)):
        rounds.contributions.upload_record(made.id, token, query, query if place % 2 else None)
    rounds.lifecycle.freeze(made.id)
    rounds.lists.make(made.id)
    rounds.contributions.add_reports(made.id, [report(1), report(2)])
    rounds.lifecycle.close(made.id)
    rounds.releases.make(made.id)
    assert rounds.lookup.round(made.id).state == "released"


@pytest.mark.parametrize("f_o", ["0.1", "0.999"])
def test_an_empty_group_is_drawn_again(rounds: Rounds, f_o: str) -> None:
    """Users are split at random: with few users, one of the two groups can be empty."""
    made = uploaded(rounds, users=6, f_o=f_o)
    rounds.lifecycle.freeze(made.round)
    rounds.lists.make(made.round)
    rounds.contributions.add_reports(made.round, [report(1), report(2)])
    rounds.lifecycle.close(made.round)
    rounds.releases.make(made.round)
    assert rounds.lookup.round(made.round).state == "released"


def test_the_listing_is_stored_exactly(rounds: Rounds) -> None:
    made = listed(rounds, users=60)
    with rounds.store.read() as connection:
        text = connection.scalar(sa.text("SELECT listing FROM rounds WHERE id = :id"), {"id": made.round})
    collection = settings().collection()
    assert listing.dump(listing.load(text, collection), collection) == text
    assert QUERIES[0] in text


def test_every_list_expires(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    made = uploaded(rounds, list_days=3)
    rounds.lifecycle.freeze(made.round)
    now[0] += 5 * DAY  # a late worker makes the same list
    rounds.lists.make(made.round)
    assert content_of(rounds, made.round)["expires"] == NOON // 3600 * 3600 + 3 * DAY
    rounds.lifecycle.abort(made.round, "enough")
    timed = rounds.lifecycle.open(made.campaign, closes_at=NOON + 77 * DAY)
    for token in made.tokens:
        rounds.contributions.upload_record(timed.id, token, "alpha", None)
    rounds.lifecycle.freeze(timed.id)
    rounds.lists.make(timed.id)
    assert content_of(rounds, timed.id)["expires"] == NOON + 77 * DAY
