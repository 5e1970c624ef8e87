"""The subset channel: its integers, its code by enumeration, its loss in rational arithmetic."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.mechanisms.channel_odds import query_lie, query_truth
from blender_dp_device.arithmetic import exp_bounds
from blender_dp_device.channel.subset import SubsetChannel, slack_free
from tests.device.channel.channels import EPSILONS, SHARES, audit, is_sound, list_of, positions, small_channel
from tests.unit.sampling.test_shortcut_exactly import Paths

Reports = dict[tuple[tuple[int, int], ...], Fraction]


@cache
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


CHANNELS = [
    small_channel(3, 2, (2, 1, 1), 5, 2),
    small_channel(3, 2, (3, 2, 1), 6, 2),
    small_channel(2, 2, (2, 2, 2, 1), 3, 2),
    small_channel(3, 3, (1, 1, 1, 1), 7, 2),  # single items, all but one reported
    small_channel(3, 2, (1, 1, 1, 1, 1), 5, 2),
    pytest.param(small_channel(2, 3, (2, 1, 2, 1, 1), 3, 2), marks=pytest.mark.slow),
    # Its URLs are so honest that another reported URL reveals a lot.
    pytest.param(small_channel(4, 2, (3, 2, 1), 3, 6), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("channel", CHANNELS, ids=str)
def test_the_code_enumerated_is_the_closed_form(channel):
    assert is_sound(channel)
    for query, url in positions(channel):
        row = enumerated(channel, query, url)
        assert row == closed_form(channel, query, url)
        assert sum(row.values()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("channel", CHANNELS, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_the_audit_agrees_with_a_full_enumeration_of_small_lists(channel, epsilon):
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


@given(URL_COUNTS, EPSILONS, SHARES, st.integers(1, 1000), st.integers(1, 3))
def test_every_list_share_and_size_keeps_the_promise_without_any_delta(url_counts, epsilon, f_c, size, m_c):
    """Whatever the curator requests, one report is (ε/m_c, 0)-private, and the integers make sense."""
    channel = slack_free(list_of(url_counts), epsilon, f_c, size, m_c)
    assert is_sound(channel)
    assert channel.size == min(size, max(1, len(url_counts)))
    finding = audit(channel, epsilon / m_c)
    assert finding.delta == 0
    assert finding.epsilon <= float(epsilon / m_c) + 1e-11
