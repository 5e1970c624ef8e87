"""The whole system on the synthetic AOL shape: known figures of profile `paper`, and how much better `tight` is.

The collections run on counts, which `test_experiment.py` shows to give what the product gives: 20 populations, five times
each. Means are compared with what they should be, with a tolerance of Z standard errors (false-alarm rate 1e-6). This is
the whole system's check; the formulas have their own, sharper ones in `test_estimates.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

from blender_dp import Blender, Entropy
from blender_dp.evaluation.experiment import Outcome, collect
from blender_dp.evaluation.groups import Groups
from blender_dp.evaluation.population import Population
from blender_dp.logs.synthetic import aol_shape
from blender_dp.mechanisms.listing_by_count import by_count
from blender_dp.planning.listing import Length, any_of, listing_probabilities
from tests.statistical.checks import Z, assert_mean

POPULATIONS, EACH = 20, 5
RUNS = POPULATIONS * EACH


PROFILES = {name: Blender(epsilon=4, delta=1e-5, max_queries=50, profile=name) for name in ("paper", "tight")}


@pytest.fixture(scope="module")
def populations() -> list[Population]:
    return [Population.of_shape(aol_shape(), seed) for seed in range(POPULATIONS)]


@pytest.fixture(scope="module")
def outcomes(populations) -> dict[str, list[Outcome]]:
    """Both profiles on the same populations and groups."""
    result: dict[str, list[Outcome]] = {name: [] for name in PROFILES}
    for seed, population in enumerate(populations):
        for name in (f"{seed} {k}" for k in range(EACH)):
            groups = Groups.of(population, 0.05, 0.95, name)
            for profile, blender in PROFILES.items():
                result[profile].append(collect(blender.collection, groups, Entropy.seeded(name)))
    return result


@pytest.fixture(scope="module")
def runs(outcomes):
    return [(outcome.queries, outcome.scores) for outcome in outcomes["paper"]]


@pytest.fixture(scope="module")
def tight_runs(outcomes):
    return [(outcome.queries, outcome.scores) for outcome in outcomes["tight"]]


def test_as_many_queries_are_listed_as_the_mechanism_says(populations, runs):
    """About 48: the closed form for each population. Over all runs, a difference of 3 % would be noticed."""
    discovery, users = PROFILES["paper"].collection.discovery, 24_671
    excess = np.empty(RUNS)
    for seed, population in enumerate(populations):
        records = listing_probabilities(population.shares, users, by_count(discovery))
        queries = any_of(records, population.query_of, population.query_counts.size)
        here = slice(seed * EACH, (seed + 1) * EACH)
        excess[here] = np.array([listed for listed, _ in runs[here]]) - Length.of(queries, 50).mean
    assert Z * excess.std(ddof=1) / RUNS**0.5 < 0.03 * 48, "too few runs to tell"
    assert_mean(excess, 0)


def test_the_clients_query_l1_is_about_017(runs):
    assert np.mean([scores["client"].query_l1 for _, scores in runs]) == pytest.approx(0.017, abs=0.001)


def test_the_blend_is_better_than_each_group(runs):
    """Paired over the runs: the blend's mean advantage is more than Z standard errors in query and record L1."""
    for other in ("opt-in", "client"):
        for measure in ("query_l1", "record_l1"):
            gain = np.array([getattr(s[other], measure) - getattr(s["blended"], measure) for _, s in runs])
            assert gain.mean() > Z * gain.std(ddof=1) / RUNS**0.5, (other, measure)


def test_the_ranking_matches_the_published_one(runs):
    """Figure 13: NDCG about .95 and query L1 below .016, with 50 queries and 5 % opt-in users."""
    means = {group: np.mean([s[group].ndcg for _, s in runs]) for group in ("opt-in", "client", "blended")}
    assert means["blended"] > max(0.97, means["opt-in"], means["client"])
    assert np.mean([s["blended"].query_l1 for _, s in runs]) < 0.016


def mean(results, group: str, measure: str) -> float:
    return float(np.mean([getattr(scores[group], measure) for _, scores in results]))


def assert_lower(left: np.ndarray, right: np.ndarray) -> None:
    """The mean over the runs, of pairs on the same population and groups, is lower by more than Z standard errors."""
    gain = right - left
    assert gain.mean() > Z * gain.std(ddof=1) / RUNS**0.5, (left.mean(), right.mean())


@pytest.mark.parametrize(("measure", "factor"), [("query_l1", 1.8), ("record_l1", 3.4)])
def test_tight_improves_on_paper_by_the_stated_factor(runs, tight_runs, measure, factor):
    """Means over the same populations and groups. By chance alone the quotient varies by about 1.5 %."""
    assert mean(tight_runs, "blended", measure) <= mean(runs, "blended", measure) / factor
    paired = [np.array([getattr(s["blended"], measure) for _, s in results]) for results in (tight_runs, runs)]
    assert_lower(*paired)


def test_tight_ranks_better(runs, tight_runs):
    assert mean(tight_runs, "blended", "ndcg") >= 0.992
    assert_lower(*(np.array([1 - s["blended"].ndcg for _, s in results]) for results in (tight_runs, runs)))


def test_tight_lists_no_fewer(runs, tight_runs):
    assert np.mean([listed for listed, _ in tight_runs]) >= np.mean([listed for listed, _ in runs])


@pytest.mark.parametrize("other", ["opt-in", "client"])
@pytest.mark.parametrize("measure", ["query_l1", "record_l1"])
def test_the_tight_blend_is_better_than_each_group(tight_runs, other, measure):
    assert_lower(*(np.array([getattr(s[g], measure) for _, s in tight_runs]) for g in ("blended", other)))
