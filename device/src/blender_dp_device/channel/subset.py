"""The local channel that reports several queries at once, for long lists and small ε.

A report is a set of `size` queries with one URL each. The true query is among them with a weight of `truth` over 2^64; the
others are a uniform choice, and each of them has a uniform URL. The true query's URL is kept or replaced as in
`channel.two_stage`, by `url_steps`. The proof is in `mechanisms/subset_response/proof.md`; the audit uses the same integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from blender_dp_device.arithmetic import Number, ceil_decreasing_in_exp, exp_bounds
from blender_dp_device.channel.two_stage import WORD_BITS, Channel, Position, lie_step, skip, split_budget
from blender_dp_device.records.checks import at_least_one
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.records.reporting_list import ChannelSettings

Draw = Callable[[int], int]
"""Returns a uniform integer below its argument."""

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
        """The number of values of a random word."""
        return 1 << self.bits

    def url_lie_bound(self, query: int) -> int:
        """A word below this replaces the URL of the true query."""
        return (self.url_counts[query] - 1) * self.url_steps[query]

    def respond(self, query: int, url: int, draw: Draw) -> tuple[Position, ...]:
        """Turn a true position into the reported ones, sorted: their order must not reveal the true one.

        The draws do not depend on the position: a word for the query, one for the URL, `size` numbers for a uniform choice
        of the other queries (Floyd's), the place of the true query if it is reported, and a URL for each.
        """
        is_kept, honest = draw(self.words) < self.truth, draw(self.words)
        others = len(self.url_counts) - 1
        chosen: list[int] = []
        for last in range(others - self.size, others):
            number = draw(last + 1)
            chosen.append(last if number in chosen else number)
        place = draw(self.size)
        queries = [skip(number, query) for number in chosen]
        urls = [draw(self.url_counts[q]) for q in queries]
        if is_kept:
            queries[place], urls[place] = query, self._own_url(query, url, honest)
        return tuple(sorted(zip(queries, urls, strict=True)))

    def _own_url(self, query: int, url: int, word: int) -> int:
        return skip(word // self.url_steps[query], url) if word < self.url_lie_bound(query) else url


AnyChannel = Channel | SubsetChannel
"""The channel of either randomiser."""


def slack_free(head_list: HeadList, epsilon: Number, f_c: Number, size: int = 1, m_c: int = 1) -> AnyChannel:
    """The channel whose worst loss is exactly ε, without the slack of composition: δ is not needed.

    The query's odds are those of ε_Q = f_c·ε; the URL's are what the whole ε still allows. With `size` 1 it is the
    two-stage response with other URL steps. A report names fewer queries than the list has, so `size` may be lowered.
    """
    counts, queries = head_list.url_counts, len(head_list) + 1
    for_query, for_url = split_budget(head_list.levels, epsilon, f_c, m_c)
    whole = for_query + for_url
    named = min(at_least_one(size, "subset_size"), max(1, queries - 1))
    if named == 1:
        step = lie_step(queries, for_query, Fraction(0))
        steps = {k: _step(k, _single_honest(k, queries, step, whole)) for k in set(counts)}
        return Channel(step, counts, tuple(steps[k] for k in counts))
    truth = _WORDS - ceil_decreasing_in_exp(
        lambda e: Fraction(_WORDS * (queries - named)) / (named * e + queries - named), for_query
    )
    steps = {k: _step(k, _subset_honest(k, for_query, for_url)) for k in set(counts)}
    return SubsetChannel(named, truth, counts, tuple(steps[k] for k in counts))


def channel_of(head_list: HeadList, settings: ChannelSettings) -> AnyChannel:
    """The integers of a list's channel, the same for devices, estimates and audits."""
    s = settings
    if s.delta is not None:
        return Channel.of(head_list, s.epsilon, s.delta, s.f_c, s.m_c)
    return slack_free(head_list, s.epsilon, s.f_c, s.subset_size, s.m_c)


def words_from(random_bytes: Callable[[int], bytes]) -> Draw:
    """Uniform integers below a bound, from eight bytes each; words that would favour some integers are rejected."""

    def draw(bound: int) -> int:
        step = _WORDS // bound
        while True:
            index = int.from_bytes(random_bytes(WORD_BITS // 8), "little") // step
            if index < bound:
                return index

    return draw


def _single_honest(count: int, queries: int, step: int, epsilon: Fraction) -> int:
    """The maximum number of words that may keep the true URL when one query is reported.

    Limited by another URL of the same query, and by a replaced query, whose URLs have ⌊2^64 / count⌋ words or more.
    """
    if queries == 1:
        return _WORDS
    remaining = _WORDS - (queries - 1) * step
    low, per = exp_bounds(epsilon)[0].as_integer_ratio()
    siblings = _WORDS * low // (low + (count - 1) * per)
    return min(siblings, low * step * (_WORDS // count) // (per * remaining), _WORDS)


def _subset_honest(count: int, for_query: Fraction, for_url: Fraction) -> int:
    """The maximum number of words that may keep the true URL when several queries are reported.

    The first bound keeps e^ε between the true query and a replaced one; the second prevents a replaced URL from revealing
    that its query is not the true one, where another reported query may be.
    """
    url, per_url = exp_bounds(for_url)[0].as_integer_ratio()
    query, per_query = exp_bounds(for_query)[0].as_integer_ratio()
    second = _WORDS * (query * count - (count - 1) * per_query) // (query * count)
    return min(_WORDS * url // (per_url * count), second, _WORDS)


def _step(count: int, honest: int) -> int:
    """The number of words of each replaced URL, rounded up."""
    return 0 if count == 1 else -((honest - _WORDS) // (count - 1))
