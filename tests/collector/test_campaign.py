"""A promise that cannot be kept is refused before anything is spent on it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from blender_dp.collector.campaign import CampaignSettings, limit_of
from tests.collector.places import settings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_epsilon": "7.9"}, "max_epsilon is less than epsilon"),
        ({"max_epsilon": None}, "max_epsilon"),
        ({"max_epsilon": "none"}, "max_epsilon"),
        ({"max_delta": "unlimited"}, "max_delta"),
        ({"max_delta": "0.009"}, "max_delta is less than delta"),
        ({"period_epsilon": "7", "period_days": 3}, "period_epsilon is less than epsilon"),
        ({"period_days": 3}, "must be set together"),
        ({"f_o": "0.05"}, "the discovery group might be empty"),
        ({"expected_clients": 10**13}, "expected_clients"),
        ({"min_opt_in": 10**13}, "min_opt_in"),
        ({"min_reports": 10**13}, "min_reports"),
        ({"period_epsilon": "8", "period_days": 10**6}, "period_days"),
        ({"epsilon": "0"}, "epsilon"),
        ({"epsilon": "21"}, "epsilon: 21 is above 20 and offers no meaningful privacy"),
        ({"delta": "0.17"}, "delta: 0.17 is not below 1 / 6 opt-in users"),
        ({"delta": "1"}, "delta"),
    ],
)
def test_impossible_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        settings(**changes)


def test_the_smallest_possible_campaign() -> None:
    caps = {"max_epsilon": "8.0", "max_delta": "1e-2", "period_epsilon": "8", "period_days": 36_500}
    made = settings(**caps, expected_clients=10**12, min_reports=10**12, f_o="0.1")
    assert made.max_epsilon == "8.0"


def test_a_campaign_without_a_limit_must_say_so() -> None:
    values = settings(max_epsilon="unlimited").model_dump()
    assert limit_of(CampaignSettings(**values).max_epsilon) is None
    with pytest.raises(ValidationError, match="max_epsilon\n  Field required"):
        CampaignSettings(**{name: value for name, value in values.items() if name != "max_epsilon"})


@pytest.mark.parametrize("before", [{"max_epsilon": None}, {}])
def test_campaigns_from_before_the_limit_was_required_are_read(before: dict[str, None]) -> None:
    values = {name: value for name, value in settings().model_dump().items() if name != "max_epsilon"} | before
    assert CampaignSettings.stored(json.dumps(values)).max_epsilon == "unlimited"
    assert CampaignSettings.stored(settings(max_epsilon="16").model_dump_json()).max_epsilon == "16"


def test_allowing_weak_privacy_is_stored() -> None:
    weak = settings(epsilon="21", delta="0.17", allow_weak_privacy=True)
    assert weak.too_weak(10**6) is None
    assert weak.collection().parameters.allow_weak_privacy
    assert CampaignSettings.stored(weak.model_dump_json()) == weak


def test_a_delta_may_be_too_large_for_more_users_than_the_minimum() -> None:
    chosen = settings(delta="0.01", min_opt_in=6)
    assert chosen.too_weak(99) is None
    assert "0.01 is not below 1 / 100 opt-in users" in (chosen.too_weak(100) or "")


def test_weak_campaigns_from_before_the_limits_are_read_but_make_no_list() -> None:
    values = {**settings().model_dump(exclude={"allow_weak_privacy"}), "delta": "0.5"}
    assert "0.5 is not below" in (CampaignSettings.stored(json.dumps(values)).too_weak(6) or "")
