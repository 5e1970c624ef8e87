"""What a campaign may spend, over rounds and periods, whatever the clock says."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sqlalchemy as sa

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.storage.schema import ledger
from tests.collector.places import NOON, Place, listed, report, settings, uploaded
from tests.collector.steps import DAY, released, rows, spent


def test_the_limit_refuses_a_round_with_the_reason(rounds: Rounds) -> None:
    campaign = released(rounds, max_epsilon="16")
    released(rounds, campaign)  # 8 and 8 are 16, exactly the limit
    made = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.freeze(made.round)
    found = rounds.lookup.round(made.round)
    assert found.state == "open"
    assert found.problem == "the budget of opt-in users is used up: ε would be 24, and the maximum is 16"
    assert spent(rounds, made.round) == []
    rounds.lists.make(made.round)
    assert rounds.lookup.round(made.round).head_list is None


def test_an_aborted_round_counts_against_the_limit_once_it_has_spent(rounds: Rounds) -> None:
    campaign = rounds.campaigns.create(settings(max_epsilon="8"))
    early = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.abort(early.round, "before anything was spent")
    late = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.freeze(late.round)
    rounds.lifecycle.abort(late.round, "after it was spent")
    assert spent(rounds, early.round) == []
    assert spent(rounds, late.round) == ["opt-in"]
    refused = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.freeze(refused.round)
    assert rounds.lookup.round(refused.round).state == "open"


def test_the_limit_of_a_period_counts_from_the_time_of_spending(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings(period_epsilon="8", period_days=30))
    first = uploaded(rounds, campaign=campaign)
    now[0] += 29 * DAY  # a round that was open for long
    rounds.lifecycle.freeze(first.round)
    rounds.lifecycle.abort(first.round, "spent")
    second = uploaded(rounds, campaign=campaign)
    for days, state in ((2, "open"), (27.99, "open"), (0.1, "listing")):
        now[0] += days * DAY
        rounds.lifecycle.freeze(second.round)
        assert rounds.lookup.round(second.round).state == state


@pytest.mark.parametrize("end", ["close", "abort"])
def test_the_limit_of_a_period_counts_clients_as_long_as_they_can_report(place: Place, end: str) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    first = listed(rounds, period_epsilon="8", period_days=7)
    now[0] += 20 * DAY
    rounds.contributions.add_reports(first.round, [report(i) for i in range(4)])
    if end == "close":
        rounds.lifecycle.close(first.round)
        rounds.releases.make(first.round)
    else:
        rounds.lifecycle.abort(first.round, "enough")
    second = uploaded(rounds, campaign=first.campaign)
    for days, problem in ((0, "the budget of client users"), (6.9, "the budget of client users"), (0.2, "")):
        now[0] += days * DAY
        rounds.lifecycle.freeze(second.round)
        assert (rounds.lookup.round(second.round).problem or "").startswith(problem)
    assert rounds.lookup.round(second.round).state == "listing"


@pytest.mark.parametrize("epsilon", ["0.7", "2.2", "4.1"])
@pytest.mark.parametrize("delta", ["0.001", "0.00001"])
def test_a_budget_may_be_used_up_exactly(sqlite: Place, epsilon: str, delta: str) -> None:
    """2.2 is less than its nearest binary number, and 0.7 more: a limit is a decimal."""
    changes = {"epsilon": epsilon, "delta": delta, "period_days": 30}
    caps = {"max_epsilon": epsilon, "max_delta": delta, "period_epsilon": epsilon}
    rounds = sqlite.rounds()
    made = uploaded(rounds, users=6, **changes, **caps)
    rounds.lifecycle.freeze(made.round)
    assert rounds.lookup.round(made.round).state == "listing"
    rounds.lifecycle.abort(made.round, "spent")
    again = uploaded(rounds, users=6, campaign=made.campaign)
    rounds.lifecycle.freeze(again.round)
    assert "used up" in (rounds.lookup.round(again.round).problem or "")


def test_a_budget_is_not_exceeded_even_slightly(rounds: Rounds) -> None:
    made = uploaded(rounds, max_delta="0.019999999999999999999999")  # as a float this is 0.02
    rounds.lifecycle.freeze(made.round)
    rounds.lifecycle.abort(made.round, "spent")
    again = uploaded(rounds, campaign=made.campaign)
    rounds.lifecycle.freeze(again.round)
    assert "δ would be 0.02, and the maximum is 0.0199" in (rounds.lookup.round(again.round).problem or "")


@pytest.mark.parametrize("column", ["campaign", "user_group", "round"])
def test_spending_is_read_from_the_chain(rounds: Rounds, column: str) -> None:
    made = listed(rounds, max_epsilon="8")
    rounds.lifecycle.abort(made.round, "spent")
    with rounds.store.write("test") as connection:
        connection.execute(ledger.update().where(ledger.c.number == 1).values({column: "x"}))
    again = uploaded(rounds, campaign=made.campaign)
    rounds.lifecycle.freeze(again.round)
    assert "used up" in (rounds.lookup.round(again.round).problem or "")


def test_an_altered_date_in_the_database_does_not_shorten_a_period(rounds: Rounds) -> None:
    made = listed(rounds, period_epsilon="8", period_days=30)
    rounds.lifecycle.abort(made.round, "spent")
    with rounds.store.write("test") as connection:
        connection.execute(sa.text("UPDATE ledger SET at = 0"))
    again = uploaded(rounds, campaign=made.campaign)
    rounds.lifecycle.freeze(again.round)  # the journal has the later date, which counts
    assert "of 30 days would be 16, and the maximum is 8" in (rounds.lookup.round(again.round).problem or "")


def test_the_limits_of_a_campaign_and_of_a_period_apply_together(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings(max_epsilon="16", period_epsilon="8", period_days=30))
    for days, problem in ((0, None), (1, "of 30 days would be 16, and the maximum is 8"), (30, None), (60, "ε would be 24")):
        now[0] += days * DAY
        made = uploaded(rounds, campaign=campaign)
        rounds.lifecycle.freeze(made.round)
        assert (problem is None) == (rounds.lookup.round(made.round).state == "listing")
        assert (problem or "") in (rounds.lookup.round(made.round).problem or "")
        rounds.lifecycle.abort(made.round, "enough")


def test_the_limit_of_delta(rounds: Rounds) -> None:
    campaign = released(rounds, max_delta="0.15", delta="0.1", allow_weak_privacy=True)
    made = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.freeze(made.round)
    assert rounds.lookup.round(made.round).problem == (
        "the budget of opt-in users is used up: δ would be 0.2, and the maximum is 0.15"
    )


def test_spending_with_a_clock_that_was_set_back_counts(place: Place) -> None:
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    campaign = rounds.campaigns.create(settings(period_epsilon="8", period_days=30))
    first = uploaded(rounds, campaign=campaign)
    now[0] = 0.0
    rounds.lifecycle.freeze(first.round)
    rounds.lifecycle.abort(first.round, "spent in 1970")
    now[0] = float(NOON) + DAY
    second = uploaded(rounds, campaign=campaign)
    rounds.lifecycle.freeze(second.round)
    assert rounds.lookup.round(second.round).state == "open"


def test_a_clock_set_back_when_a_round_ends_shortens_no_period(place: Place) -> None:
    """An end before the start is ignored: its clients count until its list expires."""
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    first = listed(rounds, period_epsilon="8", period_days=7, list_days=30)
    rounds.contributions.add_reports(first.round, [report(i) for i in range(4)])
    now[0] = 0.0
    rounds.lifecycle.close(first.round)
    rounds.releases.make(first.round)
    second = uploaded(rounds, campaign=first.campaign)
    for days, problem in ((21, "the budget of client users"), (36.9, "the budget of client users"), (37.1, "")):
        now[0] = NOON + days * DAY
        rounds.lifecycle.freeze(second.round)
        assert (rounds.lookup.round(second.round).problem or "").startswith(problem)
    assert rounds.lookup.round(second.round).state == "listing"


def test_no_entry_is_dated_before_the_last_one(place: Place) -> None:
    """Even if the round itself is from the time when the clock was wrong: the ledger's dates never decrease."""
    now = [float(NOON)]
    rounds = place.rounds(lambda: now[0])
    rounds.lifecycle.freeze(uploaded(rounds, name="other").round)
    now[0] = 0.0
    first = uploaded(rounds, period_epsilon="8", period_days=30)
    rounds.lifecycle.freeze(first.round)
    rounds.lifecycle.abort(first.round, "opened and spent in 1970")
    now[0] = float(NOON) + 29 * DAY
    second = uploaded(rounds, campaign=first.campaign)
    rounds.lifecycle.freeze(second.round)
    assert "used up" in (rounds.lookup.round(second.round).problem or "")
    assert {row.at for row in rows(rounds, sa.select(ledger.c.at))} == {NOON // 3600 * 3600}


def test_a_period_is_not_an_hour_too_short(place: Place) -> None:
    """Only the hour of a time is stored, so that it may look up to an hour older than it is."""
    now = [NOON // 3600 * 3600 + 59 * 60.0]
    rounds = place.rounds(lambda: now[0])
    first = uploaded(rounds, period_epsilon="8", period_days=30)
    rounds.lifecycle.freeze(first.round)
    rounds.lifecycle.abort(first.round, "spent")
    second = uploaded(rounds, campaign=first.campaign)
    now[0] += 30 * DAY - 30 * 60
    rounds.lifecycle.freeze(second.round)
    assert "used up" in (rounds.lookup.round(second.round).problem or "")


def test_each_campaign_has_its_own_limits(rounds: Rounds) -> None:
    released(rounds, max_epsilon="8")
    made = uploaded(rounds, name="other", max_epsilon="8")
    rounds.lifecycle.freeze(made.round)
    assert rounds.lookup.round(made.round).state == "listing"


def test_the_ledger_records_what_was_promised(rounds: Rounds) -> None:
    made = listed(rounds)
    promises = settings().collection().promises()
    entries = rounds.budgets.ledger()
    assert [entry.loss for entry in entries] == [promise.loss for promise in promises]
    assert entries[0].loss.epsilon == Fraction(8)
    row = {"number": 9, "campaign": made.campaign, "round": made.round, "at": 0, "entry": "", "digest": "x"}
    with (
        rounds.store.write("test") as connection,
        pytest.raises(sa.exc.IntegrityError, match=r"(?i)unique"),
    ):  # it spends once
        connection.execute(ledger.insert(), {**row, "user_group": "opt-in"})
