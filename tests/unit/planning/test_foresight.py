from __future__ import annotations

import pytest

from blender_dp import HeadList
from blender_dp.parameters import Parameters
from blender_dp.pipeline.collection import Collection
from blender_dp.planning.foresight import foresee


def collection(**parameters):
    return Collection(Parameters(**{"epsilon": 4, "delta": "1e-6", **parameters}))


def test_without_the_number_of_users_only_the_needed_count_is_known():
    found = foresee(collection(), None)
    assert (found.needed_count, found.empty, found.warning) == (8, None, None)
    assert found.note == "A record is listed with a probability of 1/2 or more if at least 8 discovery users have it."


def test_enough_users_cause_no_warning():
    found = foresee(collection(), 24_671)
    assert found.empty == pytest.approx(0, abs=1e-9)
    assert found.warning is None
    assert "at least 8 of about 24,671 discovery users have it (0.03%)" in found.note


def test_too_few_users_will_probably_find_nothing():
    found = foresee(collection(), 100)
    assert 0.9 < found.empty < 1
    assert found.warning.startswith(
        "the list will probably be empty: about 8 discovery users must have the same record, of 100 (8.0%)"
    )
    assert "at ε = 4 and δ = 1e-06. In a log like AOL's it would be empty with a probability of 100%." in found.warning


def test_fewer_users_than_needed_will_probably_find_nothing():
    found = foresee(collection(), 5)
    assert found.warning.startswith(
        "the list will probably be empty: about 8 discovery users must have the same record, but there are only 5"
    )
    assert found.note.endswith("if at least 8 discovery users have it; there are about 5.")


def test_a_list_with_candidates_is_not_empty():
    public = HeadList.of([("weather", "https://weather.example/")])
    assert foresee(collection(candidates=public), 5).warning is None
