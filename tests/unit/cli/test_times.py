from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from blender_dp.cli.times import iso, seconds, with_iso_times
from blender_dp.collector.http.messages import RoundMessage
from blender_dp.errors import ParameterError

LAST = 253_402_300_799  # 9999-12-31T23:59:59Z


@given(st.integers(0, LAST))
def test_times_survive_a_round_trip(at):
    assert seconds(iso(at), "lists_at") == at


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2033-05-18T03:33:20Z", 2_000_000_000),
        ("2033-05-18T05:33:20+02:00", 2_000_000_000),
        ("2033-05-18T03:33:20.999Z", 2_000_000_000),
        ("2033-05-18T03:33+00:00", 1_999_999_980),
        ("20330518T033320Z", 2_000_000_000),
    ],
)
def test_all_forms_of_iso_8601_are_read(text, at):
    assert seconds(text, "lists_at") == at


@pytest.mark.parametrize("text", ["", "now", "1", "2033-05-18", "2033-05-18T03:33:20", "2033-13-01T00:00Z"])
def test_invalid_times_are_refused(text):
    with pytest.raises(ParameterError) as refused:
        seconds(text, "closes_at")
    assert refused.value.subject == "closes_at"


def test_unset_times_stay_unset():
    assert seconds(None, "lists_at") is None
    assert with_iso_times({"lists_at": None, "closes_at": 0, "number": 7}) == {
        "lists_at": None, "closes_at": "1970-01-01T00:00:00Z", "number": 7,
    }  # fmt: skip


def test_the_collector_refuses_times_that_cannot_be_formatted():
    assert iso(RoundMessage(lists_at=LAST).lists_at) == "9999-12-31T23:59:59Z"
    for field in ("lists_at", "closes_at"):
        with pytest.raises(ValidationError):
            RoundMessage.model_validate({field: LAST + 1})
