"""The remaining budget is never overstated."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.collector.campaign import DAY_SECONDS, CampaignSettings
from blender_dp.collector.rounds.budget import budgets, rounded
from blender_dp.collector.secrets import ledger_chain as ledger
from blender_dp.collector.secrets.ledger_journal import DatedEntry

CAMPAIGN = "c" * 32
NOW = 2_000_000_000


def settings(**changes) -> CampaignSettings:
    return CampaignSettings(**{"name": "searches", "epsilon": "4", "delta": "1e-6", "max_epsilon": "40", **changes})


def spent(group: str, days_ago: int, campaign: str = CAMPAIGN, number: int = 1) -> DatedEntry:
    delta = "1/1000000" if group == "opt-in" else "0"
    entry = ledger.Entry(number, campaign, f"{number:032x}", group, "4", delta, ledger.START)
    return DatedEntry(NOW - days_ago * DAY_SECONDS, entry)


@given(st.fractions(0, 1000))
def test_what_is_spent_is_rounded_up_and_what_is_left_down(value):
    above, below = Fraction(rounded(value, up=True)), Fraction(rounded(value, up=False))
    assert below <= value <= above
    assert above - below <= value * Fraction(1, 10**10)


@pytest.mark.parametrize(
    ("value", "text"), [(Fraction(0), "0"), (Fraction(40), "40"), (Fraction(1, 10**6), "0.000001"), (Fraction(5, 2), "2.5")]
)
def test_plain_numbers_stay_plain(value, text):
    assert rounded(value, up=True) == rounded(value, up=False) == text


def test_a_campaign_counts_its_own_rounds_by_group():
    entries = [spent("opt-in", 1), spent("client", 1), spent("opt-in", 1, "d" * 32, 2)]
    found = {(one.group, one.limit): one for one in budgets(entries, CAMPAIGN, settings(), NOW, {})}
    assert set(found) == {(group, limit) for group in ("opt-in", "client") for limit in ("max_epsilon", "max_delta")}
    assert (found["opt-in", "max_epsilon"].spent, found["opt-in", "max_epsilon"].after) == (4, 8)
    assert found["opt-in", "max_delta"].spent == Fraction(1, 10**6)
    assert (found["client", "max_delta"].spent, found["client", "max_delta"].after) == (0, 0)
    assert found["opt-in", "max_delta"].most is None


def test_only_the_last_days_count_for_a_period():
    chosen = settings(period_epsilon="8", period_days=7)
    entries = [spent("opt-in", 8), spent("opt-in", 6, number=2), spent("client", 8, number=3)]
    found = {one.group: one for one in budgets(entries, CAMPAIGN, chosen, NOW, {}) if one.limit == "period_epsilon"}
    assert (found["opt-in"].spent, found["opt-in"].is_exceeded) == (4, False)
    assert found["client"].spent == 4  # it is not known that its round is over
    ends = {f"{3:032x}": NOW - 8 * DAY_SECONDS}
    (client,) = [
        one
        for one in budgets(entries, CAMPAIGN, chosen, NOW, ends)
        if (one.group, one.limit) == ("client", "period_epsilon")
    ]
    assert client.spent == 0


@pytest.mark.parametrize(("most", "exceeded"), [("4", True), ("7.999999", True), ("8", False), ("unlimited", False)])
def test_another_round_is_measured_against_the_limit(most, exceeded):
    found = budgets([spent("opt-in", 1)], CAMPAIGN, settings(max_epsilon=most), NOW, {})
    (one,) = [one for one in found if (one.group, one.limit) == ("opt-in", "max_epsilon")]
    assert one.is_exceeded is exceeded
