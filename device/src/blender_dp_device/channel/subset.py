"""The local channel that reports several queries at once, for long lists and small ε.

A report is a set of `size` queries with one URL each. The true query is among them with a weight of `truth` over 2^64; the
others are a uniform choice, and each of them has a uniform URL. The true query's URL is told or replaced as in
`client.channel`, by `url_steps`. The proof is in `mechanisms/subset_response/proof.md`; the audit works on these integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from blender_dp_device.arithmetic import Number, ceil_decreasing_in_exp, exp_bounds
from blender_dp_device.channel.two_stage import WORD_BITS, Channel, Position, lie_step, skip, split_budget
from blender_dp_device.records.checks import at_least_one
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.records.reporting_list import ChannelSettings

Draw = Callable[[int], int]
"""Gives a uniform integer below its argument."""

_WORDS = 1 << WORD_BITS


@dataclass(frozen=True)
class SubsetChannel:
    """Subset selection with a URL attached to every reported query, as integers. Lists are indexed by query, ⋆ last."""

    size: int
    truth: int
    url_counts: tuple[int, ...]
    url_steps: tuple[int, ...]
    bits: int = WORD_BITS

    @property
    def words(self) -> int:
        """How many values a random word has."""
        return 1 << self.bits

    @property
    def query_truth(self) -> Fraction:
        """The probability that the true query is reported."""
        return Fraction(self.truth, self.words)

    @property
    def query_lie(self) -> Fraction:
        """The probability that another given query is reported."""
        return (self.size - self.query_truth) / (len(self.url_counts) - 1)

    def url_lie_bound(self, query: int) -> int:
        """A word below this replaces the URL of the true query."""
        return (self.url_counts[query] - 1) * self.url_steps[query]

    @property
    def is_sound(self) -> bool:
        """Whether the integers make a channel at all, whatever its loss."""
        counts, steps = self.url_counts, self.url_steps
        if len(counts) != len(steps) or not 1 < self.size < len(counts) or not 0 < self.truth < self.words:
            return False
        return counts[-1] == 1 and all(
            0 < (count - 1) * step < self.words if count > 1 else (count, step) == (1, 0)
            for count, step in zip(counts, steps, strict=True)
        )

    def respond(self, query: int, url: int, draw: Draw) -> tuple[Position, ...]:
        """Turn a true position into the reported ones, sorted: their order must not tell the true one.

        What is drawn does not depend on the position: a word for the query, one for the URL, `size` numbers for a uniform
        choice of the other queries (Floyd's), the place that the true query takes if it is told, and a URL for each.
        """
        told, honest = draw(self.words) < self.truth, draw(self.words)
        others = len(self.url_counts) - 1
        chosen: list[int] = []
        for last in range(others - self.size, others):
            number = draw(last + 1)
            chosen.append(last if number in chosen else number)
        place = draw(self.size)
        queries = [skip(number, query) for number in chosen]
        urls = [draw(self.url_counts[q]) for q in queries]
        if told:
            queries[place], urls[place] = query, self._own_url(query, url, honest)
        return tuple(sorted(zip(queries, urls, strict=True)))

    def _own_url(self, query: int, url: int, word: int) -> int:
        return skip(word // self.url_steps[query], url) if word < self.url_lie_bound(query) else url


AnyChannel = Channel | SubsetChannel
"""What a client may randomise with."""


def slack_free(head_list: HeadList, epsilon: Number, f_c: Number, size: int = 1, m_c: int = 1) -> AnyChannel:
    """The channel whose worst loss is ε itself, not what composition says: δ is not needed.

    The query's odds are those of ε_Q = f_c·ε; the URL's are what the whole ε still allows. With `size` 1 it is the
    two-stage response with other URL steps. A list of `size` queries or fewer is told whole, so `size` is lowered.
    """
    counts, queries = head_list.url_counts, len(head_list) + 1
    for_query, for_url = split_budget(head_list.levels, epsilon, f_c, m_c)
    whole = for_query + for_url
    told = min(at_least_one(size, "subset_size"), max(1, queries - 1))
    if told == 1:
        step = lie_step(queries, for_query, Fraction(0))
        honest = {k: _single_honest(k, queries, step, whole) for k in set(counts)}
        return Channel(step, counts, tuple(_step(k, honest[k]) for k in counts))
    truth = _WORDS - ceil_decreasing_in_exp(
        lambda e: Fraction(_WORDS * (queries - told)) / (told * e + queries - told), for_query
    )
    honest = {k: _subset_honest(k, for_query, for_url) for k in set(counts)}
    return SubsetChannel(told, truth, counts, tuple(_step(k, honest[k]) for k in counts))


def channel_of(head_list: HeadList, settings: ChannelSettings) -> AnyChannel:
    """The integers of a list's channel. Devices, estimates and audits all get them here."""
    s = settings
    if s.delta is not None:
        return Channel.of(head_list, s.epsilon, s.delta, s.f_c, s.m_c)
    return slack_free(head_list, s.epsilon, s.f_c, s.subset_size, s.m_c)


def best_size(queries: int, epsilon_query: float) -> int:
    """How many of so many queries (⋆ included) are best told at once: the subset that tells most about each of them."""
    factor = math.exp(epsilon_query)
    ideal = math.floor(queries / (factor + 1))

    def variance(size: int) -> float:
        """Of the estimate of a rare query, up to a factor: s(1-s)/(t-s)²."""
        truth = size * factor / (size * factor + queries - size)
        lie = (size - truth) / (queries - 1)
        return lie * (1 - lie) / (truth - lie) ** 2

    most = max(1, queries - 1)
    sizes = {max(1, min(most, size)) for size in (ideal, ideal + 1)}
    return min(sorted(sizes), key=variance) if len(sizes) > 1 else sizes.pop()


def words_from(random_bytes: Callable[[int], bytes]) -> Draw:
    """Uniform integers below a bound from a source of bytes: eight at a time, refused where they would favour somebody."""

    def draw(bound: int) -> int:
        step = _WORDS // bound
        while True:
            index = int.from_bytes(random_bytes(WORD_BITS // 8), "little") // step
            if index < bound:
                return index

    return draw


def _single_honest(count: int, queries: int, step: int, epsilon: Fraction) -> int:
    """The most words of a query's URLs that may tell the truth, when one query is reported.

    Against another URL of the same query, and against a lie about the query, whose URLs have ⌊2^64 / count⌋ words or more.
    """
    if queries == 1:
        return _WORDS
    kept = _WORDS - (queries - 1) * step
    low = exp_bounds(epsilon)[0]
    siblings = math.floor(_WORDS * low / (low + count - 1))
    return min(siblings, math.floor(low * step * (_WORDS // count) / kept), _WORDS)


def _subset_honest(count: int, for_query: Fraction, for_url: Fraction) -> int:
    """The most words that may tell the true URL when several queries are reported.

    The first bound keeps e^ε between the truth and a lie about the query, the second one keeps a replaced URL from telling
    that its query is not the true one, where another reported query may be.
    """
    first = exp_bounds(for_url)[0] / count
    second = 1 - (count - 1) / (exp_bounds(for_query)[0] * count)
    return math.floor(_WORDS * min(first, second, Fraction(1)))


def _step(count: int, honest: int) -> int:
    """Words of each replaced URL, rounded up."""
    return 0 if count == 1 else -((honest - _WORDS) // (count - 1))
