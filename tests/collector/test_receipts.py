"""A receipt drawn by the device withdraws its own record and no other, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets import vault
from blender_dp.collector.storage.schema import records
from blender_dp.errors import StateError
from tests.collector.places import Place, all_at_once, settings, uploaded

OWN = "ab" * 32


def kept(rounds: Rounds) -> list[str]:
    with rounds.store.read() as connection:
        return list(connection.scalars(sa.select(records.c.receipt)))


def test_the_receipt_is_returned_and_only_its_digest_is_stored(rounds: Rounds) -> None:
    made = uploaded(rounds, users=2)
    assert rounds.contributions.upload_record(made.round, made.tokens[0], "query", None, OWN) == OWN
    assert vault.token_digest(OWN) in kept(rounds)
    assert OWN not in kept(rounds)
    assert not rounds.contributions.withdraw(made.receipts[0])  # it was replaced
    assert rounds.contributions.withdraw(OWN)
    assert len(kept(rounds)) == 1


def test_the_same_receipt_again_and_then_another(rounds: Rounds) -> None:
    made = uploaded(rounds, users=2)
    for receipt in (OWN, OWN, "cd" * 32):
        assert rounds.contributions.upload_record(made.round, made.tokens[0], "query", None, receipt) == receipt
        assert len(kept(rounds)) == 2
    assert not rounds.contributions.withdraw(OWN)
    assert rounds.contributions.withdraw("cd" * 32)


def test_a_receipt_of_another_record_is_refused(rounds: Rounds) -> None:
    made = uploaded(rounds, users=2)
    rounds.contributions.upload_record(made.round, made.tokens[0], "query", None, OWN)
    before = sorted(kept(rounds))
    other = rounds.lifecycle.open(rounds.campaigns.create(settings("other")))
    (stranger,) = rounds.tokens.enrol(other.campaign)
    for name, token in ((made.round, made.tokens[1]), (other.id, stranger)):
        with pytest.raises(StateError, match="belongs to another record") as refused:
            rounds.contributions.upload_record(name, token, "query", None, OWN)
        assert refused.value.kind == "conflict"
    assert sorted(kept(rounds)) == before


def test_concurrent_uploads_with_one_receipt(place: Place) -> None:
    """Of several users with the same receipt, one succeeds; one user who sends it repeatedly always succeeds."""
    several = [place.rounds() for _ in range(6)]
    made = uploaded(several[0], users=6)
    (newcomer,) = several[0].tokens.enrol(made.campaign)

    def by(place: int, token: str, receipt: str) -> Callable[[], Any]:
        return lambda: several[place].contributions.upload_record(made.round, token, "query", None, receipt)

    came = all_at_once(*[by(i, made.tokens[i], OWN) for i in range(6)])
    assert sorted(one if one == OWN else type(one).__name__ for one in came) == sorted([OWN, *["StateError"] * 5])
    assert all_at_once(*[by(i, newcomer, "cd" * 32) for i in range(6)]) == ["cd" * 32] * 6
    assert len(kept(several[0])) == 7
