from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blender_dp import Entropy
from blender_dp.sampling import discrete
from blender_dp.sampling.discrete import WORD, binomial, distinct, integers_below, integers_below_each, table

WEIGHTS = st.one_of(st.integers(0, WORD), st.sampled_from([0, 1, WORD // 2, WORD - 1, WORD]))


class Script(Entropy):
    """Yields predetermined words."""

    def __init__(self, words: list[int]) -> None:
        self._left = list(words)

    def words(self, count):
        given, self._left = self._left[:count], self._left[count:]
        return np.array(given, np.uint64)


@given(WEIGHTS, st.lists(st.integers(0, WORD - 1), max_size=5))
def test_a_few_trials_succeed_exactly_below_the_weight(weight, fractions):
    assert binomial(len(fractions), weight, Script(fractions)) == sum(fraction < weight for fraction in fractions)


@given(WEIGHTS, st.integers(0, WORD - 1))
def test_bit_by_bit_a_trial_succeeds_exactly_below_the_weight(weight, fraction):
    # Every step looks at the top bit of a fresh word; together they spell the trial's uniform fraction.
    bits = Script([(fraction >> place & 1) << 63 for place in reversed(range(64))])
    with patch.object(discrete, "_FEW", 0):
        assert binomial(1, weight, bits) == (fraction < weight)


@given(st.integers(0, 1), st.integers(1, WORD // 2 - 1), st.data())
def test_the_last_few_trials_get_the_rest_of_the_weight(top, rest, data):
    """After one bit for each of three trials, those still tied are compared with the rest of the weight."""
    ones = data.draw(st.lists(st.integers(0, 1), min_size=3, max_size=3))
    tied = ones.count(top)
    assume(tied < 3)
    words = data.draw(st.lists(st.integers(0, WORD - 1), min_size=tied, max_size=tied))
    combined = sum(bit << 61 + i for i, bit in enumerate(ones))
    expected = top * (3 - tied) + sum(word < 2 * rest for word in words)
    with patch.object(discrete, "_FEW", 2):
        assert binomial(3, top << 63 | rest, Script([combined, *words])) == expected


@given(st.lists(st.integers(0, 255), min_size=1, max_size=100), st.integers(0, 255))
def test_many_trials_are_many_comparisons(fractions, top_byte):
    """All trials together give the same results as each alone, for probabilities and fractions of 8 bits."""
    words, tied = [], list(fractions)
    weight = top_byte << 56
    for place in reversed(range(8)):
        if not tied or not (top_byte & ((2 << place) - 1)):
            break
        ones = [value >> place & 1 for value in tied]
        combined = sum(bit << (i % 64) << (64 * (i // 64)) for i, bit in enumerate(ones))
        count = -(-len(ones) // 64)
        shift = -len(ones) % 64  # the sampler keeps the upper bits of its last word
        chunks = [combined >> (64 * i) & (WORD - 1) for i in range(count)]
        chunks[-1] = chunks[-1] << shift & (WORD - 1)
        words += chunks
        keep = top_byte >> place & 1
        tied = [value for value in tied if value >> place & 1 == keep]
    with patch.object(discrete, "_FEW", 0):
        assert binomial(len(fractions), weight, Script(words)) == sum(value < top_byte for value in fractions)


@given(st.integers(1, 300), st.data())
def test_distinct_numbers_are_distinct_and_in_range(population, data):
    size = data.draw(st.integers(0, population))
    drawn = distinct(population, size, Entropy.seeded(f"{population} {size}"))
    assert len(set(drawn.tolist())) == drawn.size == size
    assert all(0 <= value < population for value in drawn)


@pytest.mark.parametrize("bound", [1, 2, 3, 10**9, 1 << 62])
def test_integers_below_reject_the_remaining_words(entropy, bound):
    assert integers_below(bound, 100, entropy).max() < bound
    leftover = Script([WORD - 1, 0])  # the last word would make some values likelier
    step = (WORD - 1) // bound
    assert integers_below(bound, 1, leftover).tolist() == [0 if (WORD - 1) // step >= bound else (WORD - 1) // step]


BOUNDS = st.lists(st.one_of(st.integers(1, 10), st.integers(1, 1 << 62)), min_size=1, max_size=8)


@given(BOUNDS, st.integers(0, 2**32))
def test_integers_below_each_stay_below_their_own_bound(bounds, seed):
    drawn = integers_below_each(np.array(bounds), Entropy.seeded(seed))
    assert drawn.dtype == np.int64
    assert all(0 <= value < bound for value, bound in zip(drawn.tolist(), bounds, strict=True))


@given(BOUNDS, st.data())
def test_integers_below_each_give_every_value_equally_many_words(bounds, data):
    """Value v has the words from v·step to (v+1)·step - 1, and words beyond the last one are drawn again."""
    steps = [(WORD - 1) // bound for bound in bounds]
    values = [data.draw(st.integers(0, bound - 1)) for bound in bounds]
    ends = [data.draw(st.sampled_from([0, step - 1])) for step in steps]
    words = [value * step + end for value, step, end in zip(values, steps, ends, strict=True)]
    assert integers_below_each(np.array(bounds), Script(words)).tolist() == values
    refused = [bound * step for bound, step in zip(bounds, steps, strict=True)]
    again = data.draw(st.lists(st.booleans(), min_size=len(bounds), max_size=len(bounds)))
    first = [bad if redraw else word for bad, redraw, word in zip(refused, again, words, strict=True)]
    second = [word for redraw, word in zip(again, words, strict=True) if redraw]
    assert integers_below_each(np.array(bounds), Script(first + second)).tolist() == values


def test_integers_below_each_keep_their_shape(entropy):
    bounds = np.array([[1, 2, 3], [4, 5, 6]])
    drawn = integers_below_each(bounds, entropy)
    assert drawn.shape == bounds.shape
    assert (drawn < bounds).all()
    assert integers_below_each(np.empty((2, 0), np.int64), entropy).shape == (2, 0)


def test_a_table_gives_each_index_exactly_its_words():
    cumulative = np.array([0, 10, 10, 1000], np.uint64)  # weights 10, 0, 990 and the rest
    words = [0, 9, 10, 999, 1000, WORD - 1]
    assert table(cumulative, len(words), Script(words)).tolist() == [0, 0, 2, 2, 3, 3]


def test_a_table_can_be_sampled_from_an_index_on(entropy):
    cumulative = np.array([0, 10, WORD // 2], np.uint64)
    assert set(table(cumulative, 200, entropy, at_least=1).tolist()) == {1, 2}
    assert set(table(cumulative, 200, entropy, at_least=2).tolist()) == {2}
