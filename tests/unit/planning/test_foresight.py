from __future__ import annotations

import pytest

from blender_dp import HeadList
from blender_dp.evaluation.shapes import shape_of
from blender_dp.parameters import Parameters
from blender_dp.pipeline.collection import Collection
from blender_dp.planning.foresight import foresee
from blender_dp.planning.outline import Outline
from blender_dp.planning.setting import Setting


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


@pytest.mark.parametrize("users", [4_000, 8_000, 20_000])
@pytest.mark.parametrize("profile", ["tight", "paper"])
@pytest.mark.parametrize("levels", [1, 2])
def test_a_list_is_empty_as_often_as_in_a_plan(users: int, profile: str, levels: int):
    """A single draw of the URLs used to decide, so that 380 discovery users had a probability of 0.43 instead of 0.62."""
    made = collection(profile=profile)
    setting = Setting(Outline.of_shape("aol", shape_of("aol"), levels), users, 0.05, made.parameters)
    empty = foresee(made, setting.sizes.discovery, levels).empty
    assert empty == pytest.approx(setting.length.probabilities[0], rel=1e-3, abs=1e-9)
