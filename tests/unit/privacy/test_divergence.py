from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from blender_dp.privacy.divergence import hockey_stick, joint_hockey_stick, largest_ratio, swapped

PAIRS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=8)


@given(PAIRS, st.fractions(Fraction(1, 2), 5))
def test_hockey_stick_is_the_best_set_of_outputs(pairs, factor):
    sets = ([p for i, p in enumerate(pairs) if mask >> i & 1] for mask in range(1 << len(pairs)))
    best = max(sum(p for p, _ in chosen) - factor * sum(q for _, q in chosen) for chosen in sets)
    assert hockey_stick(pairs, factor, 50) == best / 50


def test_the_largest_ratio_ignores_outputs_of_one_side_only():
    assert largest_ratio([(3, 2), (1, 0), (0, 5)]) == Fraction(3, 2)
    assert largest_ratio([(1, 0)]) == 1
    assert largest_ratio(swapped([(3, 2), (2, 9)])) == Fraction(9, 2)


@given(PAIRS, PAIRS, st.fractions(Fraction(1, 2), 5))
def test_independent_outputs_multiply(first, second, factor):
    joint = [(p * r, q * s) for (p, q), (r, s) in product(first, second)]
    assert joint_hockey_stick((first, 3), (second, 7), factor) == hockey_stick(joint, factor, 21)


@given(PAIRS)
def test_the_largest_ratio_is_that_of_fractions(pairs):
    assert largest_ratio(pairs) == max((Fraction(p, q) for p, q in pairs if p and q), default=Fraction(1))
