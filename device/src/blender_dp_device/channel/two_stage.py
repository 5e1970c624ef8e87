"""The local channel: the integers that decide every report.

A report is decided by two random words of 64 bits. The first one chooses the query: below `(k-1) * query_step` it names
one of the k-1 other queries (each has exactly `query_step` of the 2^64 words); otherwise the true query is kept. The
second one chooses the URL, in the same way with `url_steps[q]` if the query was kept, uniformly if it was replaced.

The steps are rounded up, that is, towards lying more often. The proof is in
`mechanisms/two_stage_response/proof.md`; the audit uses the same integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from blender_dp_device.arithmetic import Number, ceil_decreasing_in_exp
from blender_dp_device.errors import ParameterError
from blender_dp_device.records.checks import at_least_one, checked_delta, checked_epsilon, open_unit
from blender_dp_device.records.head_list import HeadList

Position = tuple[int, int]
"""Index of a query and of one of its URLs."""

WORD_BITS = 64

# Below this, rounding the steps by up to k words would start to affect the loss.
_LEAST_EPSILON = Fraction(1, 1 << 20)


@dataclass(frozen=True)
class Channel:
    """The two-stage randomised response of one head list, as integers over 2^bits.

    Lists are indexed by query, ⋆ last. `bits` is always 64 in production; a test enumerates smaller words.
    """

    query_step: int
    url_counts: tuple[int, ...]
    url_steps: tuple[int, ...]
    bits: int = WORD_BITS

    @classmethod
    def of(cls, head_list: HeadList, epsilon: Number, delta: Number, f_c: Number, m_c: int = 1) -> Channel:
        """Compute the channel of a list: LocalAlg's t and t_q for a budget of ε/m_c and δ/m_c per report.

        With one level there is no URL to choose, so the query gets all of it, whatever f_c is.
        """
        per_report = checked_delta(delta) / at_least_one(m_c, "m_c")
        epsilon_query, epsilon_url = split_budget(head_list.levels, epsilon, f_c, m_c)
        delta_query = per_report * epsilon_query / (epsilon_query + epsilon_url)
        delta_url = per_report - delta_query
        counts = head_list.url_counts
        url_steps = {k: lie_step(k, epsilon_url, delta_url) for k in set(counts)}
        return cls(
            query_step=lie_step(len(counts), epsilon_query, delta_query),
            url_counts=counts,
            url_steps=tuple(url_steps[k] for k in counts),
        )

    size = 1
    """The number of queries in a report."""

    @property
    def words(self) -> int:
        """The number of values of a random word."""
        return 1 << self.bits

    @property
    def query_lie_bound(self) -> int:
        """A first word below this replaces the query."""
        return (len(self.url_counts) - 1) * self.query_step

    def url_lie_bound(self, query: int) -> int:
        """A second word below this replaces the URL of a kept query."""
        return (self.url_counts[query] - 1) * self.url_steps[query]

    def respond(self, query: int, url: int, first: int, second: int) -> tuple[int, int]:
        """Turn a true position and two random words into the reported position. This *is* LocalAlg."""
        if first < self.query_lie_bound:
            other = skip(first // self.query_step, query)
            return other, (second * self.url_counts[other]) >> self.bits
        if second < self.url_lie_bound(query):
            return query, skip(second // self.url_steps[query], url)
        return query, url


def split_budget(levels: int, epsilon: Number, f_c: Number, m_c: int) -> tuple[Fraction, Fraction]:
    """The ε that a report may spend on the query and on the URL. With one level there is no URL to choose."""
    budget = checked_epsilon(epsilon) / at_least_one(m_c, "m_c")
    share = open_unit(f_c, "f_c", "The papers use 0.85")
    for_query = share * budget if levels == 2 else budget
    if min((for_query, budget - for_query)[:levels]) < _LEAST_EPSILON:
        problem = f"leaves less than {float(_LEAST_EPSILON):g} for one of the choices in a report"
        raise ParameterError("epsilon", problem, "Raise epsilon, move f_c away from 0 and 1, or lower m_c")
    return for_query, budget - for_query


@lru_cache(maxsize=4096)
def lie_step(choices: int, epsilon: Fraction, delta: Fraction) -> int:
    """The number of words that name each false choice: ⌈2^64 (1 - δ/2) / (e^ε + choices - 1)⌉, or 0 with one choice.

    The truth gets the rest, 2^64 - (choices - 1) * step, which is at most e^ε * step + (δ/2) * 2^64.
    """
    if choices == 1:
        return 0
    honest = (1 - delta / 2) * (1 << WORD_BITS)
    return ceil_decreasing_in_exp(lambda e: honest / (e + choices - 1), epsilon)


def skip(index: int, truth: int) -> int:
    """The index-th choice that is not the truth."""
    return index + (index >= truth)
