"""The local channel: its integers, its code by enumeration, its loss in rational arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp import ParameterError
from blender_dp.mechanisms import two_stage_response
from blender_dp.mechanisms.two_stage_response import audit
from blender_dp.mechanisms.two_stage_response.weights import weights
from blender_dp.privacy.loss import Loss
from blender_dp_device.arithmetic import exp_bounds
from blender_dp_device.channel import Channel
from blender_dp_device.channel.two_stage import lie_step
from blender_dp_device.records.head_list import HeadList

W = 1 << 64


def positions(channel: Channel) -> list[tuple[int, int]]:
    return [(q, u) for q, count in enumerate(channel.url_counts) for u in range(count)]


def closed_form(channel: Channel, query: int, url: int) -> dict[tuple[int, int], int]:
    """The papers' probabilities with the channel's integers; uniform URLs by counting their words."""
    words, k = channel.words, len(channel.url_counts)
    t = words - (k - 1) * channel.query_step
    row = {}
    for q, u in positions(channel):
        count, step = channel.url_counts[q], channel.url_steps[q]
        if q != query:
            row[q, u] = channel.query_step * (
                math.ceil(Fraction((u + 1) * words, count)) - math.ceil(Fraction(u * words, count))
            )
        else:
            row[q, u] = t * (words - (count - 1) * step if u == url else step)
    return row


def enumerated(channel: Channel, query: int, url: int) -> dict[tuple[int, int], int]:
    """The same by running the shipped code on every pair of words."""
    words = range(channel.words)
    found = Counter(channel.respond(query, url, first, second) for first in words for second in words)
    return {position: found[position] for position in positions(channel)}


def small_channel(bits: int, url_counts: tuple[int, ...], query_odds: int, url_odds: int) -> Channel:
    """A channel of small words whose truth is about `odds` times as likely as each lie."""
    words = 1 << bits

    def step(choices: int, odds: int) -> int:
        return 0 if choices == 1 else -(-words // (odds + choices - 1))

    return Channel(step(len(url_counts), query_odds), url_counts, tuple(step(k, url_odds) for k in url_counts), bits)


CHANNELS = [
    small_channel(6, (3, 2, 1), 5, 2),
    small_channel(6, (2, 2, 2, 1), 3, 3),
    small_channel(5, (5, 1), 7, 4),
    small_channel(5, (1,), 3, 2),
    small_channel(7, (4, 3, 1), 1, 1),
    small_channel(6, (1, 1, 1, 1), 5, 2),  # single items
    small_channel(6, (3, 3, 1), 1, 40),  # its URLs are so honest that another reported URL reveals a lot
]


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_the_code_enumerated_is_the_closed_form(channel):
    for query, url in positions(channel):
        row = enumerated(channel, query, url)
        assert row == closed_form(channel, query, url)
        assert sum(row.values()) == channel.words**2


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_the_audit_agrees_with_a_full_enumeration_of_small_lists(channel, epsilon):
    factor = exp_bounds(epsilon)[0]
    rows = {p: enumerated(channel, *p) for p in positions(channel)}
    deltas, ratios = [Fraction(0)], [Fraction(1)]
    for a, b in permutations(rows, 2):
        excess = sum(max(Fraction(0), rows[a][y] - factor * rows[b][y]) for y in rows)
        deltas.append(excess / channel.words**2)
        ratios += [Fraction(rows[a][y], rows[b][y]) for y in rows if rows[a][y] and rows[b][y]]
    finding = two_stage_response.worst_case(channel, Loss(epsilon, Fraction(1, 100)))
    assert finding.delta == max(deltas)
    assert finding.epsilon == pytest.approx(math.log(max(ratios)), abs=1e-11)
    assert finding.holds == (max(deltas) <= Fraction(1, 100))


HEAD_LISTS = st.one_of(
    st.lists(st.integers(1, 40), max_size=30).map(
        lambda counts: HeadList.of((f"q{i}", f"u{j}") for i, count in enumerate(counts) for j in range(count))
    ),
    st.integers(1, 1000).map(lambda count: HeadList.of((f"q{i}", None) for i in range(count))),
)
EPSILONS = st.one_of(
    st.fractions(min_value=Fraction(1, 20), max_value=12, max_denominator=200), st.just(Fraction(1, 1 << 15))
)
DELTAS = st.integers(3, 12).map(lambda n: Fraction(1, 10**n))


@given(HEAD_LISTS, EPSILONS, DELTAS, st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=50), st.integers(1, 3))
def test_every_list_keeps_its_promise_exactly(head_list, epsilon, delta, f_c, m_c):
    channel = Channel.of(head_list, epsilon, delta, f_c, m_c)
    finding = audit(channel, Loss(epsilon / m_c, delta / m_c))
    assert finding.holds
    assert finding.delta <= delta / m_c


@given(st.integers(2, 5000), EPSILONS, DELTAS)
def test_a_step_is_the_rounded_up_formula(choices, epsilon, delta):
    step = lie_step(choices, epsilon, delta)
    low, high = exp_bounds(epsilon, 80)
    assert step - 1 < W * (1 - delta / 2) / (low + choices - 1)
    assert step >= W * (1 - delta / 2) / (high + choices - 1)
    truth = W - (choices - 1) * step
    assert truth <= low * step + delta / 2 * W


def test_the_papers_probabilities():
    """t and t_q of LocalAlg, by floating point, for the papers' defaults."""
    head_list = HeadList.of((f"q{i}", "u") for i in range(50))
    channel = Channel.of(head_list, Fraction(4), Fraction(1, 10**5), Fraction("0.85"))
    t = 1 - channel.query_lie_bound / W
    t_q = 1 - channel.url_lie_bound(0) / W
    e_q, d_q, e_u, d_u = math.exp(3.4), 0.85e-5, math.exp(0.6), 0.15e-5
    assert t == pytest.approx((e_q + d_q / 2 * 50) / (e_q + 50), rel=1e-12)
    assert t_q == pytest.approx((e_u + d_u / 2) / (e_u + 1), rel=1e-12)


def worst_case(channel: Channel, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """The largest ratio and the exact δ at ε, over all pairs of records and all outputs."""
    factor = exp_bounds(epsilon)[0]
    rows = [weights(channel, *p) for p in positions(channel)]
    pairs = list(permutations(rows, 2))
    ratio = max(Fraction(x, y) for a, b in pairs for x, y in zip(a, b, strict=True))
    excess = max(sum(max(Fraction(0), x - factor * y) for x, y in zip(a, b, strict=True)) for a, b in pairs)
    return ratio, excess / channel.words**2


@pytest.mark.parametrize("items", [1, 2, 7])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
@pytest.mark.parametrize("m_c", [1, 2])
def test_single_items_spend_all_of_the_budget_and_no_more(items, epsilon, m_c):
    head_list, delta = HeadList.of((f"q{i}", None) for i in range(items)), Fraction(1, 10**9)
    channel = Channel.of(head_list, epsilon, delta, Fraction("0.85"), m_c)
    ratio, excess = worst_case(channel, epsilon / m_c)
    assert excess <= delta / m_c / 2  # (ε, δ/2)-private, exactly
    assert math.log(ratio) == pytest.approx(epsilon / m_c, abs=1e-8)
    two_stages = Channel(lie_step(items + 1, Fraction("0.85") * epsilon / m_c, delta), channel.url_counts, channel.url_steps)
    assert math.log(worst_case(two_stages, epsilon / m_c)[0]) < 0.86 * epsilon / m_c  # splitting would leave the rest unused
    assert two_stages.query_lie_bound > channel.query_lie_bound


def test_single_items_need_no_split(item_list):
    channels = {Channel.of(item_list, Fraction(4), Fraction(1, 10**5), f_c) for f_c in ("0.1", "0.85", "0.9999999999")}
    assert len(channels) == 1
    assert channels.pop().url_steps == (0, 0, 0, 0)
    with pytest.raises(ParameterError, match="epsilon: leaves less than"):
        Channel.of(item_list, Fraction(1), Fraction(1, 10**5), "0.85", 2_000_000)


def test_the_weights_are_the_closed_form():
    channel = Channel.of(HeadList.of([("a", "x"), ("a", "y"), ("b", "x")]), Fraction(2), Fraction(1, 10**5), Fraction(1, 2))
    for position in positions(channel):
        assert weights(channel, *position) == list(closed_form(channel, *position).values())


def test_with_one_choice_the_only_choice_is_reported():
    channel = Channel.of(HeadList.of([]), Fraction(4), Fraction(1, 10**5), Fraction("0.85"))
    assert channel.respond(0, 0, 0, 0) == (0, 0)
    assert channel.respond(0, 0, W - 1, W - 1) == (0, 0)
