"""The subset channel: its integers, its code by enumeration, its loss in rational arithmetic."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blender_dp import HeadList, ParameterError
from blender_dp.mechanisms import subset_response, two_stage_response
from blender_dp.mechanisms.channel_odds import query_lie, query_truth
from blender_dp.mechanisms.subset_response.audit import is_sound as is_sound_subset
from blender_dp.mechanisms.subset_response.best_size import best_size
from blender_dp.mechanisms.two_stage_response.audit import is_sound as is_sound_two_stage
from blender_dp.privacy.finding import Finding
from blender_dp.privacy.loss import Loss
from blender_dp_device.arithmetic import exp_bounds
from blender_dp_device.channel import Channel
from blender_dp_device.channel.subset import AnyChannel, SubsetChannel, slack_free, words_from
from blender_dp_device.channel.two_stage import split_budget
from tests.draws import drawn_before
from tests.unit.sampling.test_shortcut_exactly import Paths

W = 1 << 64
Reports = dict[tuple[tuple[int, int], ...], Fraction]


def audit(channel: AnyChannel, epsilon: Fraction, delta: Fraction = Fraction(0)) -> Finding:
    mechanism = two_stage_response if isinstance(channel, Channel) else subset_response
    return mechanism.worst_case(channel, Loss(epsilon, delta))


def is_sound(channel: AnyChannel) -> bool:
    return is_sound_two_stage(channel) if isinstance(channel, Channel) else is_sound_subset(channel)


def positions(channel: AnyChannel) -> list[tuple[int, int]]:
    return [(q, u) for q, count in enumerate(channel.url_counts) for u in range(count)]


def list_of(url_counts: list[int]) -> HeadList:
    """A list with these numbers of URLs per query; 0 for single items."""
    return HeadList.of((f"q{i:04}", f"u{j}" if n else None) for i, n in enumerate(url_counts) for j in range(n or 1))


def enumerated(channel: SubsetChannel, query: int, url: int) -> Reports:
    """Every report with its probability, by running the shipped code on every sequence of numbers it can draw."""
    paths, found = Paths(), Counter()
    for path in paths:
        report = channel.respond(
            query, url, lambda bound: paths.choose([(number, Fraction(1, bound)) for number in range(bound)])
        )
        found[report] += path.chance
    return dict(found)


def closed_form(channel: SubsetChannel, query: int, url: int) -> Reports:
    """The same by the definition: the true query with its weight, a uniform choice of others, a uniform URL for each."""
    others = [q for q in range(len(channel.url_counts)) if q != query]
    size, row = channel.size, {}
    own = [
        Fraction(channel.words - channel.url_lie_bound(query) if u == url else channel.url_steps[query], channel.words)
        for u in range(channel.url_counts[query])
    ]
    for kept, chance in ((1, query_truth(channel)), (0, 1 - query_truth(channel))):
        for chosen in combinations(others, size - kept):
            for urls in product(*(range(channel.url_counts[q]) for q in chosen)):
                uniform = math.prod((Fraction(1, channel.url_counts[q]) for q in chosen), start=Fraction(1))
                share = chance * uniform / math.comb(len(others), size - kept)
                beside = list(zip(chosen, urls, strict=True))
                if not kept:
                    row[tuple(sorted(beside))] = share
                for u in range(channel.url_counts[query]) if kept else ():
                    row[tuple(sorted([*beside, (query, u)]))] = share * own[u]
    return row


def small_channel(bits: int, size: int, url_counts: tuple[int, ...], truth: int, url_odds: int) -> SubsetChannel:
    """A channel of small words whose true URL is about `url_odds` times as likely as each other one."""
    words = 1 << bits
    steps = tuple(0 if k == 1 else -(-words // (url_odds + k - 1)) for k in url_counts)
    return SubsetChannel(size, truth, url_counts, steps, bits)


CHANNELS = [
    small_channel(3, 2, (2, 1, 1), 5, 2),
    small_channel(3, 2, (3, 2, 1), 6, 2),
    small_channel(2, 2, (2, 2, 2, 1), 3, 2),
    small_channel(3, 3, (1, 1, 1, 1), 7, 2),  # single items, all but one reported
    small_channel(3, 2, (1, 1, 1, 1, 1), 5, 2),
    small_channel(2, 3, (2, 1, 2, 1, 1), 3, 2),
    small_channel(4, 2, (3, 2, 1), 3, 6),  # its URLs are so honest that another reported URL reveals a lot
]


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_the_code_enumerated_is_the_closed_form(channel):
    assert is_sound(channel)
    for query, url in positions(channel):
        row = enumerated(channel, query, url)
        assert row == closed_form(channel, query, url)
        assert sum(row.values()) == 1


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_the_audit_of_any_list_is_the_enumeration_of_a_small_one(channel, epsilon):
    factor = exp_bounds(epsilon)[0]
    rows = {p: enumerated(channel, *p) for p in positions(channel)}
    deltas, ratios = [Fraction(0)], [Fraction(1)]
    for a, b in permutations(rows.values(), 2):
        outputs = a.keys() | b.keys()
        pairs = [(a.get(y, Fraction(0)), b.get(y, Fraction(0))) for y in outputs]
        deltas.append(sum(max(Fraction(0), p - factor * q) for p, q in pairs))
        ratios += [p / q for p, q in pairs if p and q]
    finding = audit(channel, epsilon, Fraction(1, 100))
    assert finding.delta == max(deltas)
    assert finding.epsilon == pytest.approx(math.log(max(ratios)), abs=1e-11)
    assert finding.holds == (max(deltas) <= Fraction(1, 100))


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_a_report_names_every_query_once_in_order(channel):
    for position in positions(channel):
        for report in enumerated(channel, *position):
            queries = [query for query, _ in report]
            assert queries == sorted(set(queries))
            assert len(queries) == channel.size
            assert all(0 <= url < channel.url_counts[query] for query, url in report)


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_every_other_query_is_equally_likely(channel):
    for query, url in positions(channel):
        row = enumerated(channel, query, url)
        named = [sum(p for report, p in row.items() if q in dict(report)) for q in range(len(channel.url_counts))]
        assert named.pop(query) == query_truth(channel)
        assert set(named) == {query_lie(channel)}


@pytest.mark.parametrize(
    "change",
    [
        {"size": 1}, {"size": 0}, {"size": 3}, {"size": -1}, {"truth": 0}, {"truth": 8}, {"truth": -1},
        {"url_counts": (3, 2, 2)}, {"url_counts": (3, 2)}, {"url_counts": (0, 2, 1)}, {"url_counts": ()},
        {"url_steps": (2, 3, 1)}, {"url_steps": (0, 3, 0)}, {"url_steps": (-2, 3, 0)}, {"url_steps": (4, 3, 0)},
        {"url_steps": (2, 3)}, {"bits": 1},
    ],
    ids=str,
)  # fmt: skip
def test_an_invalid_channel_is_unsound_and_a_violation(change):
    channel = small_channel(3, 2, (3, 2, 1), 6, 2)
    assert is_sound(channel)
    sabotaged = dataclasses.replace(channel, **change)
    assert not is_sound(sabotaged)
    finding = audit(sabotaged, Fraction(10), Fraction(99, 100))
    assert not finding.holds
    assert finding.epsilon == math.inf


URL_COUNTS = st.one_of(st.lists(st.integers(1, 40), max_size=30), st.integers(0, 600).map(lambda count: [0] * count))
EPSILONS = st.one_of(
    st.fractions(min_value=Fraction(1, 20), max_value=12, max_denominator=200),
    st.sampled_from([Fraction(1, 1 << 8), Fraction(30), Fraction(64)]),
)
SHARES = st.one_of(
    st.fractions(Fraction(1, 10), Fraction(9, 10), max_denominator=50),
    st.sampled_from([Fraction(1, 200), Fraction(199, 200)]),
)


@given(URL_COUNTS, EPSILONS, SHARES, st.integers(1, 1000), st.integers(1, 3))
def test_every_list_share_and_size_keeps_the_promise_without_any_delta(url_counts, epsilon, f_c, size, m_c):
    """Whatever the curator requests, one report is (ε/m_c, 0)-private, and the integers make sense."""
    channel = slack_free(list_of(url_counts), epsilon, f_c, size, m_c)
    assert is_sound(channel)
    assert channel.size == min(size, max(1, len(url_counts)))
    finding = audit(channel, epsilon / m_c)
    assert finding.delta == 0
    assert finding.epsilon <= float(epsilon / m_c) + 1e-11


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
