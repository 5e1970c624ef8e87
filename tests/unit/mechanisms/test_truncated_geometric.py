from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp import Entropy, OutsideTheoremError, ParameterError
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric, audit
from blender_dp.privacy.divergence import hockey_stick
from blender_dp.privacy.loss import Loss
from blender_dp.sampling.capped import CappedGeometric
from blender_dp.sampling.discrete import WORD
from blender_dp_device.arithmetic import exp_bounds
from tests.unit.sampling.test_capped import probability

DELTA = Fraction(1, 10**5)
EPSILONS = st.fractions(Fraction(1, 10), 10, max_denominator=50)
DELTAS = st.integers(2, 12).map(lambda n: Fraction(1, 10**n))
GRID = [(Fraction(e), Fraction(d)) for e in ("0.1", "0.5", "1", "2", "4", "7", "10") for d in ("1e-3", "1e-5", "1e-9")]


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_it_keeps_its_promise_and_spends_the_whole_budget(epsilon, delta):
    finding = audit(TruncatedGeometric.of(epsilon, delta), Loss(epsilon, delta))
    assert finding.holds
    assert Fraction(99, 100) * delta <= finding.delta <= delta
    assert float(epsilon) * 0.999 <= finding.epsilon <= float(epsilon) + 1e-11


@given(EPSILONS, st.one_of(DELTAS, st.fractions(Fraction(1, 1000), Fraction(999, 1000))))
def test_the_claim_holds_for_all_parameters(epsilon, delta):
    assert audit(TruncatedGeometric.of(epsilon, delta), Loss(epsilon, delta)).holds


@given(EPSILONS, DELTAS)
def test_the_listing_probability_grows_as_fast_as_epsilon_allows(epsilon, delta):
    """π(n+1) = e^(ε/2) π(n) + δ up to the mode (Desfontaines et al.); no (ε/2, δ)-private choice grows faster.

    A single user's record is listed with δ itself.
    """
    mechanism = TruncatedGeometric.of(epsilon, delta)
    top = mechanism.listing_probability(1)
    low, high = exp_bounds(epsilon / 2)
    assert top <= delta
    assert top > min(delta, 1 - 1 / low) - Fraction(2, WORD)
    for count in range(1, mechanism.threshold):
        now, after = (mechanism.listing_probability(n) for n in (count, count + 1))
        assert after <= low * now + delta
        assert after > high * now + top - Fraction(2 * count + 2, WORD)


@given(EPSILONS, DELTAS, st.integers(1, 200))
def test_records_of_more_users_are_listed_more_often(epsilon, delta, count):
    mechanism = TruncatedGeometric.of(epsilon, delta)
    assert 0 < mechanism.listing_probability(count) < mechanism.listing_probability(count + 1) <= 1


def test_a_record_without_users_is_never_listed():
    assert TruncatedGeometric.of(4, DELTA).listing_probability(0) == 0


@given(st.fractions(Fraction(7, 10), 10, max_denominator=50), DELTAS)
@settings(max_examples=40)
@pytest.mark.slow
def test_it_lists_at_least_as_often_as_the_papers_mechanism(epsilon, delta):
    new, old = TruncatedGeometric.of(epsilon, delta), LaplaceThreshold.of(epsilon, delta)
    assert all(new.listing_probability(n) >= old.listing_probability(n) for n in range(1, int(old.tau) + 30))


def test_it_lists_much_more_often_near_the_threshold():
    """The papers' defaults, a record of 6 users."""
    new, old = TruncatedGeometric.of(4, DELTA), LaplaceThreshold.of(4, DELTA)
    assert new.threshold == 6
    assert old.tau == pytest.approx(6.76, abs=0.01)
    assert new.listing_probability(6) > Fraction(1, 4)
    assert old.listing_probability(6) < Fraction(12, 100)


def test_a_small_epsilon_works_where_the_papers_mechanism_refuses():
    with pytest.raises(OutsideTheoremError):
        LaplaceThreshold.of("0.1", DELTA)
    mechanism = TruncatedGeometric.of("0.1", DELTA)
    assert mechanism.threshold == 157
    assert audit(mechanism, Loss(Fraction(1, 10), DELTA)).holds


def outputs(noise: CappedGeometric, count: int, threshold: int, lowest: int) -> dict[int | None, Fraction]:
    """The output for a record with this count: its noisy count, or None if it is not listed."""
    if count == 0:
        return {None: Fraction(1)}
    seen = {count + x: probability(noise, x) for x in range(lowest, noise.cap + 1) if count + x > threshold}
    return {None: 1 - sum(seen.values()), **seen}


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.01"), ("0.5", "0.001"), ("4", "0.00001"), ("1", "0.5")])
@pytest.mark.parametrize("part", [Fraction(1), Fraction(1, 2), Fraction(1, 10)])
def test_the_audit_bounds_what_an_observer_sees(epsilon, delta, part):
    """Both records' outputs with the threshold, by brute force, for all small counts: never more than the audit's result.

    At the claimed ε the audit is exact: two records at the edge reach it.
    """
    mechanism = TruncatedGeometric.of(epsilon, delta)
    claim = Loss(Fraction(epsilon) * part, Fraction(delta))
    factor = exp_bounds(claim.epsilon)[0]
    noise, most = mechanism.noise, min(mechanism.threshold + 2, 5)
    seen = [outputs(noise, n, mechanism.threshold, -most) for n in range(most + 1)]

    def pairs(before: int, after: int) -> list[tuple[Fraction, Fraction]]:
        names = seen[before].keys() | seen[after].keys()
        return [(seen[before].get(y, Fraction(0)), seen[after].get(y, Fraction(0))) for y in names]

    worst = Fraction(0)
    for n_a in range(1, most + 1):
        for n_b in range(most):
            both = [(p * r, q * s) for p, q in pairs(n_a, n_a - 1) for r, s in pairs(n_b, n_b + 1)]
            worst = max(worst, sum(max(Fraction(0), p - factor * q) for p, q in both))
    found = audit(mechanism, claim).delta
    assert worst <= found
    if part == 1:
        assert worst == found


@given(EPSILONS, DELTAS, st.fractions(Fraction(1, 20), 12, max_denominator=20))
@settings(max_examples=50)
@pytest.mark.slow
def test_the_audits_shortcut_equals_the_whole_sum(epsilon, delta, claimed):
    """If no ratio exceeds e^ε, the audit adds up only outputs that one neighbour cannot produce; this sums all pairs."""
    mechanism = TruncatedGeometric.of(epsilon, max(delta, DELTA))
    noise = mechanism.noise
    ends = [(1 - noise.survival(-1), 1 - noise.survival(0)), (probability(noise, 0), probability(noise, 1))]
    shift = [*ends, *((probability(noise, x), probability(noise, x + 1)) for x in range(1, noise.cap + 1))]
    top = Fraction(noise.weights[-1], WORD)
    lonely = [(top, Fraction(0)), (1 - top, Fraction(1))]
    scale = WORD**2
    cases = [[(int(p * scale), int(q * scale)) for p, q in pairs] for pairs in (shift, lonely)]
    factor = exp_bounds(claimed)[0]
    products = [[(p * s, q * r) for p, q in loss for r, s in gain] for loss in cases for gain in cases]
    whole = max(hockey_stick(pairs, factor, scale * scale) for pairs in products)
    assert audit(mechanism, Loss(claimed, delta)).delta == whole


SHIPPED = TruncatedGeometric.of(4, DELTA)
NOISE = SHIPPED.noise


def with_weights(*changes: tuple[int, int]) -> CappedGeometric:
    weights = list(NOISE.weights)
    for index, change in changes:
        weights[index] += change
    return dataclasses.replace(NOISE, weights=tuple(weights))


@pytest.mark.parametrize(
    "noise",
    [
        with_weights((-1, 10**10)),
        with_weights((-1, NOISE.weights[-1])),
        with_weights((-1, -NOISE.weights[-1] // 2)),
        with_weights((2, NOISE.weights[2] // 100)),
        with_weights((2, -NOISE.weights[2] // 100)),
        dataclasses.replace(NOISE, more=NOISE.more - 1),
        dataclasses.replace(NOISE, more=WORD // 100),
        dataclasses.replace(NOISE, weights=NOISE.weights[1:]),
        dataclasses.replace(NOISE, weights=NOISE.weights[:-1]),
    ],
    ids=[
        "a little more than δ", "twice δ", "rises too fast", "a step too high", "a step too low", "one word too few below",
        "hardly any noise below", "starts too late", "ends too early",
    ],
)  # fmt: skip
def test_sabotaged_integers_are_a_violation(noise):
    assert noise.is_sound
    assert not audit(TruncatedGeometric(noise), Loss(Fraction(4), DELTA)).holds


@pytest.mark.parametrize(
    "noise",
    [
        dataclasses.replace(NOISE, weights=()), dataclasses.replace(NOISE, more=0), dataclasses.replace(NOISE, more=WORD),
        with_weights((0, WORD)), with_weights((0, -NOISE.weights[0])), with_weights((0, -2 * NOISE.weights[0])),
    ],
)  # fmt: skip
def test_integers_that_do_not_form_a_distribution_are_a_violation(noise):
    finding = audit(TruncatedGeometric(noise), Loss(Fraction(4), DELTA))
    assert not finding.holds
    assert finding.delta == 1


def test_frequent_records_are_listed_and_rows_are_sorted(entropy):
    counts = np.array([1, 5000, 1, 1, 700, 2, 90_000])
    selection = SHIPPED.selector(entropy).select(counts)
    assert selection.rows.tolist() == [1, 4, 6]
    assert selection.noisy_counts == pytest.approx([5000, 700, 90_000], abs=25)


def test_noisy_counts_are_whole_and_never_above_the_count_by_more_than_the_threshold(entropy):
    mechanism = TruncatedGeometric.of(1, Fraction(1, 100))
    counts = np.repeat(np.arange(1, 40), 3000)
    selector = mechanism.selector(entropy)
    assert 1 <= selector.largest_rare < 20
    selection = selector.select(counts)
    assert (selection.noisy_counts > mechanism.tau).all()
    assert (selection.noisy_counts == np.round(selection.noisy_counts)).all()
    assert (selection.noisy_counts - counts[selection.rows]).max() == mechanism.threshold
    assert np.unique(selection.rows).size == selection.rows.size


@pytest.mark.parametrize("counts", [[], [1], [10**6]])
def test_small_inputs_are_handled(entropy, counts):
    selection = SHIPPED.selector(entropy).select(np.array(counts, np.int64))
    assert selection.rows.size == selection.noisy_counts.size <= len(counts)


def test_a_seed_repeats_the_selection():
    counts = np.repeat(np.arange(1, 60), 500)
    first, second = (SHIPPED.selector(Entropy.seeded(3)).select(counts) for _ in range(2))
    assert first.rows.tolist() == second.rows.tolist()
    assert first.noisy_counts.tolist() == second.noisy_counts.tolist()


def test_several_records_per_user_are_refused():
    with pytest.raises(OutsideTheoremError, match="1 record per opt-in user") as caught:
        TruncatedGeometric.of(4, DELTA, 2)
    assert (caught.value.subject, caught.value.theorem) == ("m_o", "proof.md")


@pytest.mark.parametrize(
    "wrong", [{"delta": 0}, {"delta": 1}, {"delta": -1}, {"delta": "1e-25"}, {"epsilon": -4}, {"epsilon": 0}]
)
def test_invalid_parameters_are_refused(wrong):
    with pytest.raises(ParameterError):
        TruncatedGeometric.of(**{"epsilon": 4, "delta": 1e-5, **wrong})


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_public_candidates_do_not_increase_the_loss(epsilon):
    """One of the two records may be public: the same ε and δ. With too little noise on candidates, they are not."""
    mechanism, claim = TruncatedGeometric.of(epsilon, "1e-5"), Loss(Fraction(epsilon), Fraction("1e-5"))
    found = audit(mechanism, claim, LaplaceHistogram.of(epsilon))
    assert found.holds
    assert found.epsilon == pytest.approx(float(epsilon), abs=1e-9)
    assert not audit(mechanism, claim, LaplaceHistogram.of(Fraction(epsilon) * 11 / 10)).holds
