"""The subset channel that is designed for a list: it uses the whole ε, and its size is the best one."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blender_dp import HeadList, ParameterError
from blender_dp.mechanisms.channel_odds import query_lie, query_truth
from blender_dp.mechanisms.subset_response.best_size import best_size
from blender_dp_device.arithmetic import exp_bounds
from blender_dp_device.channel import Channel
from blender_dp_device.channel.subset import slack_free, words_from
from blender_dp_device.channel.two_stage import split_budget
from tests.device.channel.channels import EPSILONS, SHARES, W, audit, list_of, small_channel
from tests.draws import drawn_before

GRID = [
    ([1] * 20, "4", "0.83125", 1), ([1] * 20, "4", "0.85", 3), ([1] * 200, "1", "0.8", 40), ([5] * 20, "4", "0.7", 1),
    ([3, 1, 7, 2] * 10, "2", "0.6", 1), ([3, 1, 7, 2] * 10, "2", "0.6", 7), ([1] * 3, "0.1", "0.9", 1),
    ([1] * 9, "0.1", "0.9", 4),
    ([0] * 50, "3", "0.85", 1), ([0] * 50, "3", "0.85", 3), ([0], "1", "0.5", 1), ([0] * 100, "0.2", "0.5", 45),
]  # fmt: skip


@pytest.mark.parametrize(("url_counts", "epsilon", "f_c", "size"), GRID)
def test_the_whole_epsilon_is_used(url_counts, epsilon, f_c, size):
    """Where the first bound binds (ε_U small enough for the list) the worst loss is ε to nine digits, and not above."""
    channel = slack_free(list_of(url_counts), epsilon, f_c, size)
    finding = audit(channel, Fraction(epsilon))
    assert channel.size == size
    assert finding.holds
    assert finding.epsilon == pytest.approx(float(epsilon), abs=1e-9)


@pytest.mark.parametrize("size", [1, 3])
def test_the_designs_example(size):
    """ε 4 of which ε_U is .675, queries with one URL (k_q = 2): t_q is e^.675 / 2, about .98. LocalAlg's would be .66.

    There the second bound (another URL of the query, or another query of the report) happens to be almost the same.
    """
    channel = slack_free(list_of([1] * 50), 4, 1 - Fraction("0.675") / 4, size)
    honest = 1 - channel.url_lie_bound(0) / W
    assert honest == pytest.approx(math.exp(0.675) / 2, abs=4e-6)
    assert honest == pytest.approx(0.98, abs=0.003)
    papers = Channel.of(list_of([1] * 50), 4, "1e-5", 1 - Fraction("0.675") / 4)
    assert 1 - papers.url_lie_bound(0) / W == pytest.approx(0.6626, abs=0.001)


@pytest.mark.parametrize("size", [1, 4])
def test_the_true_query_is_reported_as_often_as_its_share_allows(size):
    """Subset selection's probability: d·e^ε_Q / (d·e^ε_Q + k - d), rounded towards lying."""
    channel = slack_free(list_of([2] * 50), 3, "0.7", size)
    odds = math.exp(2.1)
    assert float(query_truth(channel)) == pytest.approx(size * odds / (size * odds + 51 - size), rel=1e-12)
    assert float(query_lie(channel)) == pytest.approx((size - float(query_truth(channel))) / 50, rel=1e-12)
    low, high = exp_bounds(Fraction("2.1"))
    assert query_truth(channel) <= size * high / (size * high + 51 - size)
    assert query_truth(channel) + Fraction(50, W) > size * low / (size * low + 51 - size)


@given(st.integers(2, 60), st.integers(2, 40), EPSILONS, SHARES, st.integers(1, 30))
def test_the_urls_are_as_honest_as_both_bounds_allow(queries, count, epsilon, f_c, size):
    """Replaced URLs get the fewest words that the bounds leave, rounded up: one word fewer would break one of them."""
    channel = slack_free(list_of([count - 1] * queries), epsilon, f_c, size)
    for_query, for_url = (exp_bounds(part)[0] for part in split_budget(2, epsilon, f_c, 1))
    whole = exp_bounds(epsilon)[0]
    step = channel.url_steps[0]
    if channel.size == 1:
        query_step, kept = channel.query_step, channel.words - channel.query_lie_bound
        bounds = [W * whole / (whole + count - 1), whole * query_step * (W // count) / kept]
    else:
        bounds = [W * for_url / count, W * (1 - (count - 1) / (for_query * count))]
    assert W - (count - 1) * step <= min(bounds)
    assert step == 1 or W - (count - 1) * (step - 1) > min(bounds)


@pytest.mark.parametrize(
    ("epsilon", "f_c", "size"), [("4", "0.83125", 3), ("2", "0.7", 4), ("2", "0.7", 1), ("9", "0.95", 1)]
)
@pytest.mark.parametrize("part", ["query", "urls"])
def test_a_slightly_too_honest_channel_is_a_violation(epsilon, f_c, size, part):
    channel = slack_free(list_of([1, 2, 3] * 10), epsilon, f_c, size)
    assert audit(channel, Fraction(epsilon)).holds
    if part == "urls":
        change = {"url_steps": tuple(step * 99 // 100 for step in channel.url_steps)}
    elif size == 1:
        change = {"query_step": channel.query_step * 99 // 100}
    else:
        change = {"truth": channel.truth + (W - channel.truth) // 100}
    finding = audit(dataclasses.replace(channel, **change), Fraction(epsilon))
    assert not finding.holds
    assert finding.delta > 0
    assert finding.epsilon > float(epsilon)


def test_a_larger_size_than_requested_is_a_violation():
    """The weight of the truth depends on the size: with other sizes it reveals too much."""
    channel = slack_free(list_of([1] * 30), 2, "0.8", 4)
    assert not audit(dataclasses.replace(channel, size=3), Fraction(2)).holds


def test_a_query_with_other_steps_is_detected_among_many():
    channel = slack_free(list_of([3] * 30), 2, "0.8", 4)
    steps = (*channel.url_steps[:-2], channel.url_steps[-2] // 2, 0)
    assert not audit(dataclasses.replace(channel, url_steps=steps), Fraction(2)).holds


@pytest.mark.parametrize(
    ("queries", "requested", "expected"), [(0, 5, 1), (1, 5, 1), (2, 5, 2), (3, 2, 2), (9, 9, 9), (9, 99, 9)]
)
@pytest.mark.parametrize("urls", [0, 2])
def test_a_short_list_lowers_the_size(queries, requested, expected, urls):
    assert slack_free(list_of([urls] * queries), 1, "0.8", requested).size == expected


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "two"])
def test_other_sizes_are_refused(small_list, size):
    with pytest.raises(ParameterError, match="subset_size"):
        slack_free(small_list, 1, "0.8", size)


def test_with_one_choice_the_only_choice_is_reported():
    channel = slack_free(HeadList.of([]), 4, "0.85", 3)
    assert channel == Channel(0, (1,), (0,))
    assert channel.respond(0, 0, 0, W - 1) == (0, 0)


def test_single_items_need_no_split(item_list):
    assert len({slack_free(item_list, 4, f_c, 2) for f_c in ("0.1", "0.85", "0.9999999999")}) == 1
    with pytest.raises(ParameterError, match="epsilon: leaves less than"):
        slack_free(item_list, 1, "0.85", 2, 2_000_000)


@given(st.integers(30, 2000), st.fractions(Fraction(1, 10), 6, max_denominator=20))
@example(203, Fraction(49, 10))  # between 1 and 2, where the nearest whole number is not the best
@example(35, Fraction(31, 10))
@settings(max_examples=50)
def test_the_best_size_separates_the_truth_best(queries, epsilon):
    """The variance of a rare query's estimate, s(1-s)/(t-s)², is least at this size."""
    item_list = HeadList.of((f"q{i:04}", None) for i in range(queries - 1))

    def variance(size: int) -> float:
        channel = slack_free(item_list, epsilon, "0.85", size)
        t, s = float(query_truth(channel)), float(query_lie(channel))
        return s * (1 - s) / (t - s) ** 2

    best = best_size(queries, float(epsilon))
    assert 1 <= best <= queries - 1
    tried = {1, max(1, best - 1), min(best + 1, queries - 1), max(1, best // 2), min(2 * best, queries - 1)}
    assert variance(best) <= min(variance(size) for size in tried) * 1.000001


@given(st.one_of(st.integers(1, 20), st.integers(1, W)), st.data())
def test_a_number_from_bytes_has_equally_many_words(bound, data):
    step = W // bound
    number = data.draw(st.integers(0, bound - 1))
    word = number * step + data.draw(st.sampled_from([0, step - 1]))
    refused = [W - 1] * data.draw(st.integers(0, 2)) if bound * step < W else []
    stream = b"".join(value.to_bytes(8, "little") for value in (*refused, word))
    taken = iter([stream[i : i + 8] for i in range(0, len(stream), 8)])
    assert words_from(lambda _: next(taken))(bound) == number
    assert next(taken, None) is None


def test_numbers_drawn_before_are_used_in_order():
    channel = small_channel(3, 2, (3, 2, 1, 1), 6, 2)
    # Reported, honest; of the others 0, 1, 2 (queries 1, 2, 3): 0, then 0 again, which is the last; place 1; URL 1 and 0.
    assert channel.respond(0, 2, drawn_before(iter([5, 7, 0, 0, 1, 1, 0]))) == ((0, 2), (1, 1))
    # Not reported: both others stay, and the place means nothing.
    assert channel.respond(0, 2, drawn_before(iter([6, 7, 0, 0, 1, 1, 0]))) == ((1, 1), (3, 0))
    # Reported, with the URL replaced: word 0 of step 2 names the first other URL.
    assert channel.respond(0, 2, drawn_before(iter([5, 0, 0, 0, 1, 1, 0]))) == ((0, 0), (1, 1))
