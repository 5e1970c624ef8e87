"""A withdrawn record stays withdrawn, whatever is still in transit, on SQLite and on PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.storage import store
from blender_dp.collector.storage.schema import records, withdrawals
from blender_dp.errors import StateError
from tests.collector.places import Place, all_at_once, settings, uploaded

OWN, OTHER = "ab" * 32, "cd" * 32


def count(rounds: Rounds, table: sa.Table) -> int:
    with rounds.store.read() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0


def refused(upload: Callable[[], Any]) -> bool:
    with pytest.raises(StateError, match="withdrawn") as error:
        upload()
    return error.value.kind == "conflict"


def test_an_upload_that_arrives_after_the_withdrawal_is_refused(rounds: Rounds) -> None:
    """It was sent before: the second of two, or a copy that a network repeats."""
    made = uploaded(rounds, users=6)
    rounds.contributions.upload_record(made.round, made.tokens[0], "query", None, OWN)
    assert rounds.contributions.withdraw(OWN)
    assert refused(lambda: rounds.contributions.upload_record(made.round, made.tokens[0], "query", None, OWN))
    assert count(rounds, records) == 5
    rounds.lifecycle.freeze(made.round)
    assert rounds.lookup.round(made.round).problem == "too few opt-in users: 5, and the minimum is 6"


def test_an_upload_under_another_receipt_is_refused_too(rounds: Rounds) -> None:
    """A request with an earlier receipt of the same user may be under way."""
    made = uploaded(rounds, users=6)
    rounds.contributions.upload_record(made.round, made.tokens[0], "query", None, OWN)
    assert rounds.contributions.withdraw(OWN)
    for receipt in (OTHER, None, made.receipts[0]):
        assert refused(lambda r=receipt: rounds.contributions.upload_record(made.round, made.tokens[0], "query", None, r))
    assert refused(
        lambda: rounds.contributions.upload_record(made.round, made.tokens[1], "query", None, OWN)
    )  # another user's
    assert count(rounds, records) == 5


def test_a_withdrawal_can_be_repeated(rounds: Rounds) -> None:
    """Its response may have been lost."""
    made = uploaded(rounds, users=6)
    assert [rounds.contributions.withdraw(made.receipts[0]) for _ in range(3)] == [True] * 3
    assert not rounds.contributions.withdraw(OWN)
    assert (count(rounds, records), count(rounds, withdrawals)) == (5, 1)


def test_everyone_may_participate_in_the_next_round(rounds: Rounds) -> None:
    made = uploaded(rounds, users=6)
    rounds.contributions.upload_record(made.round, made.tokens[0], "query", None, OWN)
    rounds.contributions.withdraw(OWN)
    rounds.lifecycle.abort(made.round, "enough")
    later = rounds.lifecycle.open(made.campaign)
    assert rounds.contributions.upload_record(later.id, made.tokens[0], "query", None, OTHER) == OTHER


def test_no_trace_of_it_remains_after_the_list_or_an_abort(rounds: Rounds) -> None:
    made = uploaded(rounds, users=8)
    other = uploaded(rounds, users=2, campaign=rounds.campaigns.create(settings("other")))
    assert rounds.contributions.withdraw(made.receipts[0])
    assert rounds.contributions.withdraw(other.receipts[0])
    rounds.lifecycle.freeze(made.round)
    assert not rounds.contributions.withdraw(made.receipts[0])  # too late to withdraw
    assert count(rounds, withdrawals) == 2
    rounds.lists.make(made.round)
    assert count(rounds, withdrawals) == 1
    rounds.lifecycle.abort(other.round, "enough")
    assert count(rounds, withdrawals) == 0
    with pytest.raises(StateError, match="not open"):
        rounds.contributions.upload_record(made.round, made.tokens[0], "query", None, made.receipts[0])


@pytest.mark.parametrize("first", ["upload", "withdrawal"])
def test_an_upload_and_a_withdrawal_wait_for_each_other(place: Place, monkeypatch: pytest.MonkeyPatch, first: str) -> None:
    """Either one may be halfway through when the other arrives: after an acknowledged withdrawal there is no record."""
    one, other = place.rounds(), place.rounds()
    made = uploaded(one, users=6)
    one.contributions.upload_record(made.round, made.tokens[0], "query", None, OWN)
    inside, go_on = threading.Event(), threading.Event()

    def waits(point: str) -> None:
        if threading.get_ident() == threads[0].ident and point in {"record: before commit", "withdrawal: before commit"}:
            inside.set()
            assert go_on.wait(120)

    works = {
        "upload": lambda rounds: rounds.contributions.upload_record(made.round, made.tokens[0], "again", None, OWN),
        "withdrawal": lambda rounds: rounds.contributions.withdraw(OWN),
    }
    (second,) = works.keys() - {first}
    monkeypatch.setattr(store, "reached", waits)
    came: dict[str, Any] = {}

    def do(name: str, rounds: Rounds) -> None:
        try:
            came[name] = works[name](rounds)
        except StateError as error:
            came[name] = error

    threads = [threading.Thread(target=do, args=(first, one)), threading.Thread(target=do, args=(second, other))]
    threads[0].start()
    assert inside.wait(120)
    threads[1].start()
    threads[1].join(0.3)
    assert second not in came  # it waits
    go_on.set()
    for thread in threads:
        thread.join(120)
    assert came["withdrawal"] is True
    assert (came["upload"] == OWN) == (first == "upload")
    assert count(one, records) == 5


def test_many_concurrent_uploads_and_withdrawals(place: Place) -> None:
    several = [place.rounds() for _ in range(6)]
    made = uploaded(several[0], users=6)
    for receipt in range(5):
        own = f"{receipt:064x}"
        several[0].contributions.upload_record(made.round, made.tokens[receipt], "query", None, own)
        came = all_at_once(
            *[
                lambda i=i, own=own, user=receipt: several[i].contributions.upload_record(
                    made.round, made.tokens[user], "q", None, own
                )
                for i in range(4)
            ],
            lambda own=own: several[4].contributions.withdraw(own),
            lambda own=own: several[5].contributions.withdraw(own),
        )
        assert came[4:] == [True, True]
        assert all(one == own or isinstance(one, StateError) for one in came[:4])
        assert count(several[0], records) == 5 - receipt
