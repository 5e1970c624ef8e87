from __future__ import annotations

from dataclasses import replace

import pytest

from blender_dp import GroupError, ParameterError
from blender_dp.parameters import Parameters
from blender_dp.planning import UNKNOWNS, Setting, tradeoff, tradeoffs
from blender_dp.planning.forecasts import work
from blender_dp.planning.sources import outline_of
from blender_dp.planning.unknowns import unknown_of
from tests.unit.planning.shapes import SHAPES, USERS


def setting(**parameters):
    return Setting(
        SHAPES["Zipf 1.8"], USERS, 0.1, Parameters(**{"epsilon": 4, "delta": "1e-5", "max_queries": 10, **parameters})
    )


@pytest.mark.slow
def test_more_opt_in_users_find_more_with_smaller_errors():
    found = tradeoff(setting(), "opt_in", [0.02, 0.1, 0.4])
    assert (found.over, [point.value for point in found.points]) == ("opt-in", [0.02, 0.1, 0.4])
    few, some, many = (point.forecast for point in found.points)
    assert few.queries.mean <= some.queries.mean <= many.queries.mean
    assert few.record_l1.mean > some.record_l1.mean > many.record_l1.mean
    assert found.points[0].to_document()["value"] == 0.02


@pytest.mark.slow
def test_values_that_a_collection_refuses_are_left_out_unless_they_were_asked_for():
    paper = setting(profile="paper")
    assert [point.value for point in tradeoff(paper, "epsilon").points] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ParameterError, match="ε > ln 2"):
        tradeoff(paper, "epsilon", [0.5])


@pytest.mark.slow
def test_fewer_values_are_simulated_if_the_lists_take_too_long(monkeypatch):
    monkeypatch.setattr(tradeoffs, "_WORK", 3.5 * work(setting()))
    assert [point.value for point in tradeoff(setting(), "epsilon").points] == [1, 4, 6]
    monkeypatch.setattr(tradeoffs, "_WORK", 0)
    assert [point.value for point in tradeoff(setting(), "epsilon").points] == [4, 6]
    first, last = replace(setting(), opt_in=0.0015), replace(setting(), opt_in=0.7)
    assert [point.value for point in tradeoff(replace(first, users=10**6), "opt-in").points] == [0.0015, 0.1]
    assert [point.value for point in tradeoff(last, "opt-in").points][-1] == 0.7
    assert [point.value for point in tradeoff(setting(), "epsilon", [1, 2]).points] == [1, 2]


def test_a_tradeoff_without_a_valid_value_says_what_is_wrong_with_the_planned_one():
    with pytest.raises(GroupError, match="discovery users: there would be 0"):
        tradeoff(replace(setting(), users=4), "opt-in")
    with pytest.raises(ParameterError, match="ε > ln 2"):
        tradeoff(setting(profile="paper", epsilon="0.5"), "opt-in")


def test_a_tenth_of_few_users_is_left_out():
    """It would be no user at all."""
    few = replace(setting(), users=4, opt_in=0.5, parameters=replace(setting().parameters, f_o="0.5"))
    assert {point.value for point in tradeoff(few, "users").points} <= {8, 16, 40}


def test_the_planned_value_has_all_its_digits():
    """ε a little above ln 2, the least that the papers' discovery accepts."""
    least = setting(profile="paper", epsilon="0.69314719")
    assert tradeoff(least, "epsilon").points[0].value == 0.69314719


@pytest.mark.parametrize(
    ("over", "value", "problem"),
    [
        ("users", 9e18, "users: 9,000,000,000,000,000,000 are too many"),
        ("users", 0.2, "users: 0 is not a whole number of at least 1"),
        ("max-queries", 10_001, "max_queries: 10,001 is longer than any list that can be planned"),
        ("opt-in", 2.0, "opt_in: 2.0 is not between 0 and 1"),
        ("opt-in", 0.0, "opt_in: 0.0 is not between 0 and 1"),
    ],
)
def test_values_that_cannot_be_planned_are_refused(over, value, problem):
    with pytest.raises(ParameterError, match=problem):
        tradeoff(setting(), over, [value])


@pytest.mark.slow
def test_every_point_is_what_a_single_value_gives():
    """Long tails of rare queries are drawn in two threads."""
    rare = replace(setting(profile="paper"), outline=outline_of("zipf:0.4"), users=1_000_000)
    assert rare.tail
    values = [0.05, 0.1, 0.2]
    alone = [tradeoff(rare, "opt-in", [value]).points[0].to_document() for value in values]
    assert [point.to_document() for point in tradeoff(rare, "opt-in", values).points] == alone


@pytest.mark.parametrize("name", UNKNOWNS)
def test_every_unknown_sets_what_it_gets(name):
    unknown = UNKNOWNS[name]
    changed = unknown.set(setting(), unknown.values(setting())[0])
    assert unknown.get(changed) == unknown.values(setting())[0]


def test_values_are_rounded_to_two_digits_towards_the_safe_side():
    assert UNKNOWNS["opt-in"].rounded(0.03123) == 0.032
    assert UNKNOWNS["opt-in"].rounded(0.9) == 0.9
    assert UNKNOWNS["epsilon"].rounded(0.1) == 0.1
    assert UNKNOWNS["epsilon"].rounded(0.1, up=False) == 0.1
    assert UNKNOWNS["opt-in"].rounded(0.899) == 0.9
    assert UNKNOWNS["epsilon"].rounded(20.01) == 20
    assert UNKNOWNS["users"].rounded(12, up=False) == 1_000
    assert UNKNOWNS["users"].rounded(1_234_567) == 1_300_000
    assert UNKNOWNS["users"].rounded(1_234_567, up=False) == 1_200_000
    assert UNKNOWNS["max-queries"].rounded(42.3) == 43
    assert UNKNOWNS["max-queries"].rounded(42.7, up=False) == 42


@pytest.mark.parametrize("name", UNKNOWNS)
def test_the_planned_value_is_among_the_usual_ones(name):
    planned = replace(setting(), opt_in=0.3, parameters=Parameters(epsilon="3.5", delta="1e-6", max_queries=70))
    values = UNKNOWNS[name].values(planned)
    assert UNKNOWNS[name].get(planned) in values
    assert list(values) == sorted(values)


def test_an_unknown_name_is_refused():
    with pytest.raises(ParameterError, match="Use one of: opt-in, epsilon, users, max-queries"):
        unknown_of("delta", "over")
