from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from blender_dp.privacy.divergence import hockey_stick, independent, largest_ratio, swapped

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


@given(PAIRS, PAIRS)
def test_independent_outputs_multiply(first, second):
    joint = list(independent(first, second))
    assert len(joint) == len(first) * len(second)
    assert sum(p for p, _ in joint) == sum(p for p, _ in first) * sum(p for p, _ in second)
