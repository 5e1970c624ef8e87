from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp import Entropy, OutsideTheoremError, ParameterError
from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.selector import Crowd
from blender_dp.sampling.laplace import GridLaplace

DELTA = Fraction(1, 10**5)
EPSILONS = st.fractions(Fraction(7, 10), 12, max_denominator=50)


@given(EPSILONS, st.integers(2, 12).map(lambda n: Fraction(1, 10**n)))
@settings(max_examples=50)
@pytest.mark.slow
def test_the_threshold_matches_the_papers_up_to_the_grid(epsilon, delta):
    mechanism = LaplaceThreshold.of(epsilon, delta)
    papers = 1 - 2 / float(epsilon) * math.log(delta)
    assert papers - 1e-9 <= mechanism.tau <= papers + 1 / mechanism.noise.steps + 1e-9
    assert mechanism.tau >= 1


@given(EPSILONS, st.integers(2, 12).map(lambda n: Fraction(1, 10**n)))
@settings(max_examples=50)
@pytest.mark.slow
def test_a_single_occurrence_is_listed_with_at_most_half_delta(epsilon, delta):
    assert LaplaceThreshold.of(epsilon, delta).listing_probability(1) <= delta / 2


def test_a_record_without_users_is_never_listed():
    assert LaplaceThreshold.of(Fraction(4), DELTA).listing_probability(0) == 0


def test_listing_probability_per_count():
    mechanism = LaplaceThreshold.of(Fraction(4), DELTA)
    for count in range(1, 15):
        distance = count - mechanism.tau
        laplace = math.exp(2 * distance) / 2 if distance < 0 else 1 - math.exp(-2 * distance) / 2
        assert float(mechanism.listing_probability(count)) == pytest.approx(laplace, rel=1e-9)


def test_frequent_records_are_listed_and_rows_are_sorted(entropy):
    counts = np.array([1, 5000, 1, 1, 700, 2, 90_000])
    selection = LaplaceThreshold.of(Fraction(4), DELTA).selector(entropy).select(counts)
    assert selection.rows.tolist() == [1, 4, 6]
    assert selection.noisy_counts == pytest.approx([5000, 700, 90_000], abs=15)


def test_both_sampling_methods_are_used_and_agree_above_the_threshold(entropy):
    mechanism = LaplaceThreshold.of(Fraction(4), DELTA)
    counts = np.repeat(np.arange(1, 30), 2000)
    selector = mechanism.selector(entropy)
    assert 1 < selector.largest_rare < 30
    selection = selector.select(counts)
    assert (selection.noisy_counts > mechanism.tau).all()
    assert np.unique(selection.rows).size == selection.rows.size


@pytest.mark.parametrize("counts", [[], [1], [10**6]])
def test_small_inputs_are_handled(entropy, counts):
    selection = LaplaceThreshold.of(Fraction(4), DELTA).selector(entropy).select(np.array(counts, np.int64))
    assert selection.rows.size == selection.noisy_counts.size <= len(counts)


@pytest.mark.parametrize(("epsilon", "m_o", "subject"), [("0.69", 1, "epsilon"), ("0.5", 1, "epsilon"), ("4", 2, "m_o")])
def test_parameters_outside_the_theorem_are_refused(epsilon, m_o, subject):
    with pytest.raises(OutsideTheoremError, match=r"Theorem 3\.1") as caught:
        LaplaceThreshold.of(Fraction(epsilon), DELTA, m_o)
    assert (caught.value.subject, caught.value.theorem) == (subject, "Theorem 3.1")


@pytest.mark.parametrize("wrong", [{"delta": 0}, {"delta": 1}, {"delta": 2}, {"delta": -1}, {"epsilon": -4}])
def test_invalid_parameters_are_refused(wrong):
    with pytest.raises(ParameterError):
        LaplaceThreshold.of(**{"epsilon": 4, "delta": 1e-5, **wrong})


@pytest.mark.parametrize("counts", [[0], [5, 0, 5], [-1]])
def test_counts_below_one_are_refused(entropy, counts):
    with pytest.raises(ParameterError, match="at least one user has"):
        LaplaceThreshold.of(4, 1e-5).selector(entropy).select(np.array(counts))


def test_just_above_ln_2_is_accepted():
    LaplaceThreshold.of(Fraction("0.6932"), DELTA)  # ln 2 = 0.69314...


def test_a_seed_repeats_the_selection():
    mechanism, counts = LaplaceThreshold.of(Fraction(1), DELTA), np.repeat(np.arange(1, 60), 500)
    first, second = (mechanism.selector(Entropy.seeded(3)).select(counts) for _ in range(2))
    assert first.rows.tolist() == second.rows.tolist()
    assert first.noisy_counts.tolist() == second.noisy_counts.tolist()


def test_a_loose_threshold_has_no_crowds(entropy):
    """If even records of one user are often listed, no record is rare, and all are drawn one by one."""
    selector = LaplaceThreshold.of(Fraction(12), Fraction(9, 10)).selector(entropy)
    assert selector.largest_rare == 0
    assert selector.select(np.full(1000, 3)).rows.size > 900


@given(st.lists(st.integers(0, 400), min_size=1, max_size=12), st.integers(0, 2**32))
def test_a_crowd_draws_once_for_each_member(sizes, seed):
    """In whatever batches the members arrive, the survivors drawn ahead are each used exactly once."""
    noise, entropy = GridLaplace.of(Fraction(2)), Entropy.seeded(seed)
    crowd, drawn, survivors = Crowd(), 0, []
    for size in sizes:
        before = crowd.ahead
        if size > before:
            crowd.look_ahead(size, noise, 0, entropy)
        drawn += crowd.ahead - before
        places, values = crowd.next(size)
        assert ((places >= 0) & (places < size)).all()
        assert np.unique(places).size == places.size == values.size
        assert (values > 0).all()
        survivors.append(places.size)
    assert drawn - crowd.ahead == sum(sizes)
    left, _ = crowd.next(crowd.ahead)
    assert crowd.ahead == 0
    assert sum(survivors) + left.size <= drawn < 2 * sum(sizes) + 1
