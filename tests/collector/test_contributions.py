"""Reports and records: stored once, replaced, withdrawn, exported."""

from __future__ import annotations

import io
import json

import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets import vault
from blender_dp.collector.storage.schema import records, reports
from blender_dp.errors import DocumentError, StateError
from tests.collector.places import Place, all_at_once, listed, report, settings, uploaded
from tests.collector.steps import counted, rows


def test_concurrent_duplicates_count_once(place: Place) -> None:
    """Every thread sends all reports in a different order, and each report has its own cell."""
    several = [place.rounds() for _ in range(4)]
    made = listed(several[0])
    batch = [report(i, i) for i in range(300)]
    orders = [batch, batch[::-1], batch[150:] + batch[:150], batch[::2] + batch[1::2]]
    works = [
        lambda r=r, o=o: r.contributions.add_reports(made.round, o) for r, o in zip(several * 2, orders * 2, strict=True)
    ]
    assert all_at_once(*works) == [None] * 8
    assert counted(several[0], made.round) == dict.fromkeys(range(300), 1)


def test_a_report_twice_in_one_request_counts_once(rounds: Rounds) -> None:
    made = listed(rounds)
    rounds.contributions.add_reports(made.round, [report(1, 1), report(1, 1), report(2, 2), report(1, 3)])
    assert sum(counted(rounds, made.round).values()) == 2
    rounds.contributions.add_reports(made.round, [])
    assert sum(counted(rounds, made.round).values()) == 2


@pytest.mark.parametrize("cells", [(999_999).to_bytes(4, "little"), b"abc"])
def test_a_nonsensical_stored_report_is_detected(rounds: Rounds, cells: bytes) -> None:
    """The service refuses it; if it got into the database anyway, no release must be made from it."""
    made = listed(rounds)
    rounds.contributions.add_reports(made.round, [report(1), (bytes(16), cells)])
    rounds.lifecycle.close(made.round)
    with pytest.raises(DocumentError):
        rounds.schedule.advance_due()
    found = rounds.lookup.round(made.round)
    assert (found.state, found.problem) == (
        "closed",
        "reports: one names a cell that the list does not have. Abort the round.",
    )


def test_the_same_id_in_two_rounds_is_two_reports(rounds: Rounds) -> None:
    one, other = listed(rounds), listed(rounds, name="other")
    for made in (one, other):
        rounds.contributions.add_reports(made.round, [report(7, 5)])
    assert counted(rounds, one.round) == counted(rounds, other.round) == {5: 1}


def test_a_second_record_replaces_the_first(rounds: Rounds) -> None:
    made = uploaded(rounds, users=6)
    second = rounds.contributions.upload_record(made.round, made.tokens[0], "another", "https://two.example/")
    kept = rows(rounds, sa.select(records))
    assert len(kept) == 6
    assert not rounds.contributions.withdraw(made.receipts[0])  # the first receipt is no longer valid
    owner = vault.token_digest(made.tokens[0], made.round)
    (mine,) = [row for row in kept if row.owner == owner]
    key = rounds.keys.read(made.round)
    assert vault.unseal_record(key, f"{made.round}/{owner}", mine.sealed) == ("another", "https://two.example/")
    assert rounds.contributions.withdraw(second)


def test_concurrent_uploads_of_one_user_leave_one_record(place: Place) -> None:
    several = [place.rounds() for _ in range(6)]
    made = uploaded(several[0], users=6)
    came = all_at_once(
        *[lambda r=r: r.contributions.upload_record(made.round, made.tokens[0], "again", None) for r in several]
    )
    assert {type(one) for one in came} == {str}
    assert len(rows(several[0], sa.select(records))) == 6
    assert sum(several[0].contributions.withdraw(one) for one in came) == 1  # only the last one's receipt is valid


def test_a_record_can_be_withdrawn_with_its_receipt(rounds: Rounds) -> None:
    made = uploaded(rounds, users=8)
    assert rounds.contributions.withdraw(made.receipts[0])
    assert len(rows(rounds, sa.select(records))) == 7
    rounds.lifecycle.freeze(made.round)
    assert not rounds.contributions.withdraw(made.receipts[1])
    assert len(rows(rounds, sa.select(records))) == 7


def test_stored_records_have_the_same_length(rounds: Rounds) -> None:
    """Including "no record": a copy of the database must not reveal who has a record."""
    campaign = rounds.campaigns.create(settings())
    name = rounds.lifecycle.open(campaign).id
    uploads = ["a", "b" * 250, "ä" * 300, "c" * 2000, "q" * 2048, '"' * 1000, "x" * 100_000, "", None, "joe@example.com"]
    for token, query in zip(rounds.tokens.enrol(campaign, len(uploads)), uploads, strict=True):
        rounds.contributions.upload_record(name, token, query, "https://one.example/")
    found = rows(rounds, sa.select(records.c.sealed))
    assert len(found) == len(uploads)
    assert {len(row.sealed) for row in found} == {2_048 + 12 + 16}  # with AES-GCM's nonce and tag


def test_an_unusable_record_counts_as_a_user_without_a_record(rounds: Rounds) -> None:
    campaign = rounds.campaigns.create(settings())
    name = rounds.lifecycle.open(campaign).id
    uploads = [("Alpha ", "One.example"), ("joe@example.com", "one.example"), ("alpha", None), ("555 123 4567", "a.example")]
    for token, (query, url) in zip(rounds.tokens.enrol(campaign, 20), uploads * 5, strict=True):
        rounds.contributions.upload_record(name, token, query, url)
    key = rounds.keys.read(name)
    kept = [
        vault.unseal_record(key, f"{name}/{row.owner}", row.sealed)
        for row in rows(rounds, sa.select(records.c.owner, records.c.sealed))
    ]
    assert sorted(kept, key=str) == sorted([(None, None)] * 15 + [("alpha", "https://one.example/")] * 5, key=str)
    rounds.lifecycle.freeze(name)
    rounds.lists.make(name)
    with rounds.store.read() as connection:
        text = connection.scalar(sa.text("SELECT listing FROM rounds"))
    found = json.loads(text or "")
    assert found["discovery_users"] + found["calibration_users"] == 20  # all of them count, whatever they have uploaded


def test_errors_do_not_quote_what_was_to_be_stored(rounds: Rounds) -> None:
    row = {"receipt": None, "round": "no such round", "owner": "canary", "sealed": b"canary"}
    with rounds.store.engine.connect() as connection, pytest.raises(sa.exc.IntegrityError) as refused:
        connection.execute(records.insert(), row)
    assert "[SQL parameters hidden" in str(refused.value)


def test_partially_deleted_reports_are_not_exported(rounds: Rounds) -> None:
    made = listed(rounds, keep_reports_days=9)
    rounds.contributions.add_reports(made.round, [report(i) for i in range(40)])
    rounds.lifecycle.close(made.round)
    assert b"".join(rounds.published.reports(made.round))
    rounds.releases.make(made.round)
    assert b"".join(rounds.published.reports(made.round))
    with rounds.store.write("test") as connection:  # they are being deleted
        connection.execute(reports.delete().where(reports.c.id == report(7)[0]))
    with pytest.raises(StateError, match="reports were deleted"):
        rounds.published.reports(made.round)


def test_an_export_does_not_reveal_who_reported_first(place: Place) -> None:
    if place.server:  # an index would happen to be in the right order; a table that is read through is in that of arrival
        with place.store().engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            for way in ("indexscan", "indexonlyscan", "bitmapscan"):
                connection.execute(sa.text(f"ALTER DATABASE {place.database} SET enable_{way} = off"))
    rounds = place.rounds()
    made = listed(rounds, users=60)
    for i in (500, 0, 900):
        rounds.contributions.add_reports(made.round, [report(i + k, 0 if i else 1) for k in range(3)])
    rounds.lifecycle.close(made.round)
    table = pq.read_table(io.BytesIO(b"".join(rounds.published.reports(made.round))))
    assert table["cell"].to_pylist() == [1] * 3 + [0] * 6
