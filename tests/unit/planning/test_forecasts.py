from __future__ import annotations

import numpy as np
import pytest

from blender_dp.evaluation.experiment import Outcome
from blender_dp.parameters import Parameters
from blender_dp.planning.forecasts import Forecast, forecast, usual_runs
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import simulated
from blender_dp.planning.sources import outline_of
from tests.unit.planning.shapes import SHAPES, USERS, brute_force

RUNS = 120


def compared(outcomes: list[Outcome], predicted: Forecast) -> dict[str, tuple[float, float]]:
    """Each expected value: as the plan predicts it, and as simulated without any shortcut."""
    return {
        "queries": (predicted.queries.mean, np.mean([one.queries for one in outcomes])),
        **{
            name: (getattr(predicted, name).mean, np.mean([getattr(one.scores["blended"], name) for one in outcomes]))
            for name in ("query_l1", "record_l1", "ndcg")
        },
        **{
            f"error at rank {rank.rank}": (rank.standard_error.mean, np.mean(stated(outcomes, rank.rank)))
            for rank in predicted.ranks
            if rank.listed > 0.5
        },
    }


def stated(outcomes: list[Outcome], rank: int) -> np.ndarray:
    """The standard errors that releases state for the query of this rank, where it is listed."""
    return np.sqrt([
        one.result.blended.queries.variance[place]
        for one in outcomes
        for place in np.flatnonzero(one.listed.queries == rank - 1)
    ])  # fmt: skip


# All seeds are fixed, so there are no false alarms. The standard error of a ratio of L1s is 1 to 2.5 %, of the others less
# than 1 %; `python -m benchmarks plan` repeats this with more runs, both profiles and larger populations.
@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_expected_values_and_ranges_are_those_of_brute_force(shape):
    setting = Setting(SHAPES[shape], USERS, 0.15, Parameters(epsilon=4, delta="1e-5", max_queries=30))
    outcomes = [brute_force(setting, seed) for seed in range(RUNS)]
    predicted = forecast(setting, simulated(setting, RUNS, "forecasts", designs=4))
    for name, (value, simulated_value) in compared(outcomes, predicted).items():
        assert value == pytest.approx(simulated_value, rel=0.05), name
    for rank in predicted.ranks:
        errors, expected = stated(outcomes, rank.rank), rank.standard_error
        inside = np.mean((expected.low <= errors) & (errors <= expected.high))
        assert inside >= (0.85 if rank.listed > 0.5 else 0.6), rank  # 95 % of collections; but a few say little
        if rank.listed > 0.5:  # otherwise brute force does not know the width either
            assert 0.6 < (expected.high - expected.low) / np.ptp(np.quantile(errors, [0.025, 0.975])) < 1.4


@pytest.mark.slow
def test_collections_with_short_lists_are_simulated_several_times():
    """Those with long lists differ little from each other."""
    parameters = Parameters(epsilon=2, delta="1e-9", max_queries=50)
    short, long = (Setting(outline_of("zipf:0"), users, 0.05, parameters) for users in (105_000_000, 400_000_000))
    assert short.length.mean < 2
    assert long.length.mean > 49
    assert usual_runs(short) >= 6
    assert usual_runs(long) < 6


def test_a_list_that_is_certainly_empty_ranks_nothing():
    """No simulated user has one of the few queries that are looked at."""
    parameters = Parameters(epsilon=1, delta="1e-8", max_queries=10, profile="paper")
    nothing = Setting(outline_of("zipf:0.1"), 21_677, 0.5, parameters)
    predicted = forecast(nothing, simulated(nothing, 10))
    assert predicted.queries.mean < 0.001
    assert predicted.ndcg.mean == 0
