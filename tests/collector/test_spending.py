"""When a campaign's budget is used up."""

from __future__ import annotations

import pytest

from blender_dp.collector.campaign import CampaignSettings
from blender_dp.collector.rounds.spending import over_limit
from blender_dp.collector.secrets.ledger_chain import START, Entry
from blender_dp.collector.secrets.ledger_journal import DatedEntry
from tests.collector.places import NOON, settings


def spent(rounds: int, settings: CampaignSettings) -> list[DatedEntry]:
    promises = dict(zip(("opt-in", "client"), settings.collection().promises(), strict=True))
    return [
        DatedEntry(int(NOON), Entry(1, "c", f"r{number}", group, str(promise.loss.epsilon), str(promise.loss.delta), START))
        for number in range(rounds)
        for group, promise in promises.items()
    ]


@pytest.mark.parametrize("delta", ["1e-5", "1e-9", "1e-15"])
@pytest.mark.parametrize("limit", ["unlimited", "1000"])
def test_a_small_delta_does_not_end_a_campaign(delta: str, limit: str) -> None:
    chosen = settings(epsilon="4", delta=delta, max_epsilon=limit, period_epsilon="1000", period_days=3)
    for rounds in (0, 1, 9, 10, 11, 40):
        assert over_limit(spent(rounds, chosen), "c", chosen, NOON, {}) is None


@pytest.mark.parametrize("delta", ["1e-5", "1e-9", "1e-15"])
def test_the_last_round_within_the_limit_is_made_and_the_next_one_is_not(delta: str) -> None:
    chosen = settings(epsilon="4", delta=delta, max_epsilon="40")
    assert over_limit(spent(9, chosen), "c", chosen, NOON, {}) is None
    assert "is used up: ε would be 4" in (over_limit(spent(10, chosen), "c", chosen, NOON, {}) or "")
