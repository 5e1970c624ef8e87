from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from blender_dp import ParameterError
from blender_dp.parameters import Parameters
from blender_dp.planning import Setting, Want, solve, solving
from blender_dp.planning.plans import setting_of
from blender_dp.planning.simulation import simulated
from blender_dp.planning.unknowns import UNKNOWNS
from tests.unit.planning.shapes import SHAPES, USERS, brute_force


def setting(shape="Zipf 1.8", **parameters):
    return Setting(SHAPES[shape], USERS, 0.1, Parameters(**{"epsilon": 4, "delta": "1e-5", "max_queries": 20, **parameters}))


@pytest.mark.parametrize("unknown", ["opt-in", "epsilon", "users"])
def test_the_smallest_value_that_lists_enough_is_found(unknown):
    want = Want(queries=20)
    found = solve(setting(), want, unknown)
    assert found.missing == ()
    assert want.lists_enough(found.setting)
    assert UNKNOWNS[unknown].get(found.setting) == found.value == found.tried
    assert not want.lists_enough(UNKNOWNS[unknown].set(setting(), found.value / 1.2))


@pytest.mark.slow
def test_the_solution_holds_in_brute_force():
    found = solve(setting(), Want(queries=15, ndcg=0.99, error=0.15), "users")
    outcomes = [brute_force(found.setting, seed) for seed in range(10)]
    assert sum(one.queries >= 15 for one in outcomes) >= 8
    assert sum(one.scores["blended"].ndcg for one in outcomes) / 10 > 0.989
    tenth = [
        (one.result.blended.queries.share - one.query_truth)[:-1][one.listed.queries == 9]
        / found.setting.outline.query_shares[9]
        for one in outcomes
    ]
    assert math.sqrt(sum(float((error**2).sum()) for error in tenth) / 10) < 0.2


@pytest.mark.slow
def test_it_says_when_no_value_is_enough():
    found = solve(setting("uniform"), Want(ndcg=0.9999999), "epsilon")
    assert found.value is None
    assert found.tried == 20
    assert found.missing[0].startswith("the NDCG is 0.9")
    impossible = solve(setting(epsilon="0.2", delta="1e-9"), Want(queries=20), "opt-in")
    assert impossible.value is None
    assert "20 queries are listed with a probability of 0%, not 90%" in impossible.missing
    assert json.loads(json.dumps(impossible.to_document()))["value"] is None


@pytest.mark.slow
def test_the_list_is_as_long_as_wanted_or_as_possible():
    wanted = solve(setting(), Want(queries=12), "max_queries")
    assert (wanted.value, wanted.setting.parameters.max_queries) == (12, 12)
    longest = solve(setting(), Want(error=0.1), "max-queries")
    assert longest.value is not None
    assert longest.forecast.worst_error < 0.1
    assert 2 <= longest.value < 20


def test_errors_of_queries_that_are_hardly_ever_listed_are_not_simulated():
    """Of many equally popular queries, a short list has others in every collection."""
    flat = setting("uniform", max_queries=3)
    assert Want(queries=3).is_possible(flat)
    assert Want(error=0.1).is_possible(flat)
    assert float(flat.on_final_list[:3].sum()) < 0.5
    assert not Want(queries=3, error=0.1).is_possible(flat)
    popular = setting()
    assert Want(queries=20, error=0.1).is_possible(popular)
    assert not Want(queries=20, error=0.1).is_possible(setting(epsilon="0.2"))


def test_a_list_that_is_probably_empty_is_never_enough():
    """It has no errors, so that 26 discovery users used to be enough."""
    found = solve(setting("uniform"), Want(error=0.9), "opt-in")
    assert found.setting.length.at_least(1) >= 0.9
    empty = replace(setting("uniform"), opt_in=0.005)
    assert not Want(error=0.9).is_possible(empty)
    reason = Want(error=0.9).missing(empty, found.forecast)[0]
    assert reason.startswith("at least one query is listed with a probability of")


def test_exactly_the_wanted_number_of_queries_counts():
    """One query less is much more probable."""
    close = replace(setting(), opt_in=0.1, users=2_000)
    lengths = close.length
    most = max(n for n in range(1, 21) if lengths.at_least(n) >= 0.9)
    assert Want(queries=most).lists_enough(close)
    assert not Want(queries=most + 1).lists_enough(close)


@pytest.mark.slow
def test_every_check_uses_random_numbers_of_its_own(monkeypatch):
    streams = []

    def watched(setting, runs, stream="plan", **others):
        streams.append(stream)
        return simulated(setting, runs, stream, **others)

    monkeypatch.setattr(solving, "simulated", watched)
    monkeypatch.setattr(solving.Want, "missing", lambda *_: ("never good enough",))
    solve(setting(), Want(queries=15, ndcg=0.99), "users")
    checks = [stream for stream in streams if stream != "plan"]
    assert 2 < len(checks) == len(set(checks))
    assert checks[0] == "verification"
    assert streams.index("verification") > 0


@pytest.mark.slow
def test_an_epsilon_is_found_although_a_larger_one_is_worse():
    """The papers' average ranks a long list by few calibration users: the NDCG is best at ε = 5, and too low at 20."""
    parameters = Parameters(epsilon=5, delta="1e-6", max_queries=50, profile="paper")
    solution = solve(setting_of("aol", "0.05", None, parameters), Want(ndcg=0.975), "epsilon")
    assert solution.value == pytest.approx(4, abs=1)


def test_no_number_is_rounded_to_what_is_wanted():
    good = setting_of("zipf:3", "0.2", 100_000, Parameters(epsilon=4, delta="1e-6", max_queries=3))
    found = solve(good, Want(ndcg=0.9), "opt-in").forecast
    nearly = replace(found, ndcg=replace(found.ndcg, mean=0.99998), worst_error=0.01004)
    assert Want(ndcg=1.0, error=0.01).missing(good, nearly) == (
        "the NDCG is 0.9999, not 1",
        "the largest relative error is 1.1%, not below 1.0%",
    )


def test_a_whole_number_of_queries_may_be_of_any_type():
    assert repr(Want(queries=100.0).queries) == "100"


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["tight", "paper"])
def test_a_short_list_is_found_although_a_longer_one_has_larger_errors(profile):
    """Without a number of queries, the error is that of all listed ones: with more users, rarer queries are among them."""
    parameters = Parameters(epsilon=4, delta="1e-6", max_queries=100, profile=profile)
    solution = solve(setting_of("aol", "0.05", None, parameters), Want(ndcg=0.8, error=0.3), "users")
    assert solution.missing == ()
    assert solution.value < 200_000


def test_a_maximum_below_the_wanted_number_is_refused():
    with pytest.raises(ParameterError, match="max_queries: 20 is less than the 30 queries that are wanted"):
        solve(setting(), Want(queries=30), "opt-in")


@pytest.mark.slow
def test_a_value_that_only_seems_good_enough_does_not_end_the_search():
    """The smallest possible number of users looks good by chance; the next ones do not, but larger ones are."""
    parameters = Parameters(epsilon="4.526", delta="1e-5", max_queries=5, profile="paper")
    wanted = Want(ndcg=0.8, error=0.1)
    found = solve(setting_of("zipf:2", 0.2, 775_412, parameters), wanted, "users")
    assert found.value is not None
    assert 2_700 < found.value < 6_000
    assert found.missing == ()


@pytest.mark.parametrize("good_from", [1, 2_050, 5_000, 60_000, 9 * 10**9])
def test_what_a_large_step_has_skipped_is_checked_as_well(monkeypatch, good_from):
    """From 2,000 on, steps are doubled until a value is good enough; the answer is at most a quarter too large."""
    monkeypatch.setattr(solving.Want, "missing", lambda _, setting, __: () if setting.users >= good_from else ("too few",))
    monkeypatch.setattr(solving, "crossing", lambda *_: 2_000.0)
    found = solve(setting("Zipf 1.8", epsilon=8), Want(ndcg=0.5), "users")
    assert good_from <= found.value <= 1.25 * max(good_from, 2_000)


def test_if_nothing_is_good_enough_the_end_of_the_range_was_tried(monkeypatch):
    monkeypatch.setattr(solving.Want, "missing", lambda *_: ("too few",))
    found = solve(setting("Zipf 1.8", epsilon=8), Want(ndcg=0.5), "users")
    assert (found.value, found.tried) == (None, 10**10)


def test_a_list_that_is_too_long_to_plan_is_refused():
    for queries in (20_000, 300_000_000):
        with pytest.raises(ParameterError, match=f"max_queries: {queries:,} is longer than any list"):
            solve(setting(), Want(queries=queries), "max-queries")


@pytest.mark.parametrize("wrong", [{}, {"ndcg": 2.0}, {"error": 0.0}, {"queries": 0}, {"queries": 2.5}])
def test_senseless_wishes_are_refused(wrong):
    with pytest.raises(ParameterError, match="want"):
        Want(**wrong)
