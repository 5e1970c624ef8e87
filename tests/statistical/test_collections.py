"""Whole collections at the papers' defaults, many times: intervals, efficiency, selection, and groups that differ.

False-alarm rate 1e-6 per check: the mean over the collections, with Z standard errors of that mean, is compared with a
bound, and there are enough collections for Z standard errors to fit within the required precision.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_dp import Blender, Entropy
from blender_dp.evaluation.experiment import Outcome, discover_on, estimated, make_listing
from blender_dp.evaluation.groups import Groups, Members
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.sources import PopulationSource
from blender_dp.stages import simulate
from blender_dp.stages.discovery import record_cells
from blender_dp.stages.likelihood import fit
from blender_dp.stages.likelihood.estimator import discovery_evidence, scale_of
from tests.statistical.checks import Z

POPULATIONS, EACH = 8, 15
ROBUST, BELIEVING = (Blender(epsilon=4, delta="1e-5", max_queries=50, robust=robust) for robust in (True, False))
Pairs = list[tuple[Outcome, Outcome]]


def distorted(population: Population, seed: str) -> Groups:
    """Opt-in users with different interests: each query's users opt in more or less often, by a factor of about e^±½.

    The users with the smallest exponential numbers, divided by their weights, are drawn one by one with probabilities by
    weight.
    """
    numbers = np.random.default_rng(list(seed.encode()))
    record = np.repeat(np.arange(population.counts.size), population.counts)  # of every user
    weight = np.exp(0.5 * numbers.normal(size=population.query_counts.size))[population.query_of[record]]
    size = round(population.users * 0.05)
    first = np.argpartition(numbers.standard_exponential(record.size) / weight, size)[:size]
    opt_in, cut = numbers.permutation(first), round(size * 0.95)
    parts = (record[opt_in[:cut]], record[opt_in[cut:]])
    return Groups(population, *(Members.of(population, part.size, part) for part in parts))


@pytest.fixture(scope="module")
def populations() -> list[Population]:
    return [PopulationSource("aol").population(seed) for seed in range(POPULATIONS)]


def collected(populations: list[Population], grouped) -> Pairs:
    names = [(population, f"{i} {k}") for i, population in enumerate(populations) for k in range(EACH)]
    return [estimates(grouped(population, name), Entropy.seeded(name)) for population, name in names]


def estimates(groups: Groups, entropy: Entropy) -> tuple[Outcome, Outcome]:
    """The same collection with and without `robust`, which only its last stage uses."""
    listing, listed = make_listing(ROBUST.collection, groups, entropy)
    channel = ROBUST.collection.channel(listing.head_list, listing.design)
    reported = simulate(groups.clients_on(listed), channel, entropy)
    believing = replace(listing, context=replace(listing.context, robust=False))
    return (
        estimated(ROBUST.collection, groups, listing, listed, channel, reported),
        estimated(BELIEVING.collection, groups, believing, listed, channel, reported),
    )


@pytest.fixture(scope="module")
def alike(populations) -> Pairs:
    return collected(populations, lambda population, name: Groups.of(population, 0.05, 0.95, name))


@pytest.fixture(scope="module")
def unlike(populations) -> Pairs:
    return collected(populations, distorted)


def mean_and_error(values) -> tuple[float, float]:
    numbers = np.array(list(values))
    return float(numbers.mean()), float(Z * numbers.std(ddof=1) / numbers.size**0.5)


@pytest.mark.parametrize("level", ["covered_queries", "covered_records"])
def test_intervals_have_their_stated_coverage(alike, level):
    """95 % within 2 %: not below 93 % nor above 97 % by more than chance."""
    covered, error = mean_and_error(getattr(robust, level) for robust, _ in alike)
    assert error < 0.02, "too few collections to tell"
    assert 0.93 - error < covered < 0.97 + error


def test_the_error_is_near_the_minimum(alike):
    """85 % efficiency: of the Cramér-Rao bound, and of the stated variances, which include what was learnt."""
    squared, error = mean_and_error(robust.squared_error for robust, _ in alike)
    for name in ("bound", "stated"):
        least = np.mean([getattr(robust, name) for robust, _ in alike])
        assert least / (squared - error) > 0.85, (name, least / squared)
        assert name == "bound" or least / (squared + error) < 1.1


@pytest.mark.parametrize("measure", ["query_l1", "record_l1", "ndcg"])
def test_robust_costs_nothing_if_groups_agree(alike, measure):
    """In fact it changes nothing at all in nearly all collections, and the error by far less than 5 %."""
    doubting, believing = (
        np.array([getattr(o.scores["blended"], measure) for o in group]) for group in zip(*alike, strict=True)
    )
    assert np.mean(doubting == believing) > 0.9
    assert doubting.mean() == pytest.approx(believing.mean(), rel=0.01)


@pytest.mark.parametrize("measure", ["query_l1", "record_l1"])
def test_if_groups_differ_the_blend_is_no_worse_than_the_clients(unlike, measure):
    gain, error = mean_and_error(
        getattr(robust.scores["client"], measure) - getattr(robust.scores["blended"], measure) for robust, _ in unlike
    )
    assert gain > error
    better, error = mean_and_error(
        getattr(believing.scores["blended"], measure) - getattr(robust.scores["blended"], measure)
        for robust, believing in unlike
    )
    assert better > error


@pytest.mark.parametrize("level", ["covered_queries", "covered_records"])
def test_if_groups_differ_intervals_keep_their_coverage(unlike, level):
    """At least 90 %; without `robust`, coverage is lower by more than 3 percentage points."""
    covered, error = mean_and_error(getattr(robust, level) for robust, _ in unlike)
    assert covered - error > 0.9
    gain, error = mean_and_error(getattr(robust, level) - getattr(believing, level) for robust, believing in unlike)
    assert gain - error > 0.03


def test_records_just_above_the_threshold_are_not_overestimated(populations):
    """Discovery's counts alone, of records that are at most 5 above the threshold.

    Their noisy counts are too high by more than 0.3 of the stated error, on average: that is why they were listed. The
    fit is off by less than 0.25 of it; the test can distinguish far smaller differences.
    """
    flattered, fitted = [], []
    for i, population in enumerate(populations):
        for k in range(EACH):
            groups = Groups.of(population, 0.05, 0.95, f"{i} {k}")
            found, number = discover_on(ROBUST.collection, groups, Entropy.seeded(f"selection {i} {k}"))
            context = ROBUST.collection.context(found, groups.sizes.discovery, groups.sizes.calibration)
            result, cells = fit(discovery_evidence(context), scale_of(context)), record_cells(found.head_list)
            true = np.array([population.shares[number[record]] for record in found.head_list.records()])
            near = found.noisy_counts <= ROBUST.collection.discovery.tau + 5
            counts = found.noisy_counts - ROBUST.collection.discovery.noise.mean
            error = np.sqrt(result.variance[cells][near].mean())
            flattered.append((counts / groups.sizes.discovery - true)[near].mean() / error)
            fitted.append((result.shares[cells] - true)[near].mean() / error)
    naive, chance = mean_and_error(flattered)
    assert naive - chance > 0.3
    bias, chance = mean_and_error(fitted)
    assert chance < 0.15
    assert abs(bias) + chance < 0.25
