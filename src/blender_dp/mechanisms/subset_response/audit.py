"""The exact loss of the subset channel, from its integers, for lists of any size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from blender_dp.mechanisms.channel_odds import query_truth
from blender_dp.privacy.finding import Finding, nothing_holds
from blender_dp.privacy.loss import Loss
from blender_dp.privacy.rounding import log_above
from blender_dp_device.arithmetic import exp_bounds
from blender_dp_device.channel.subset import SubsetChannel
from blender_dp_device.channel.two_stage import WORD_BITS

NAME = "local channel"

Kind = tuple[int, int]
"""A query's number of URLs and its step: queries of one kind are interchangeable."""

Outcomes = list[tuple[Fraction, Fraction]]
"""The probabilities, under two inputs, of the outcomes for which they differ."""


def audit(channel: SubsetChannel, claim: Loss) -> Finding:
    """Compute the worst case over all pairs of records a client might hold, for one report.

    The samplers always draw 64-bit words, so a table for words of another length is not the one they use.
    """
    return worst_case(channel, claim) if channel.bits == WORD_BITS else nothing_holds(NAME, claim)


def worst_case(channel: SubsetChannel, claim: Loss) -> Finding:
    """The audit of a channel with words of any length: tests enumerate short ones.

    For two records with different queries, all that matters is whether a report contains each of the two queries, and
    whether with the URL of the record: nine outcomes. For two URLs of one query there are four, of which two differ.
    """
    if not is_sound(channel):
        return nothing_holds(NAME, claim)
    factor = exp_bounds(claim.epsilon)[0]
    deltas, ratios = [Fraction(0)], [Fraction(1)]
    for outcomes in _pairs(channel):
        deltas.append(sum((max(Fraction(0), p - factor * q) for p, q in outcomes), Fraction(0)))
        ratios += [p / q for p, q in outcomes if q]
    return Finding(NAME, claim, log_above(max(ratios)), max(deltas))


def is_sound(channel: SubsetChannel) -> bool:
    """Whether the integers are a valid channel, whatever its loss."""
    counts, steps = channel.url_counts, channel.url_steps
    if len(counts) != len(steps) or not 1 < channel.size < len(counts) or not 0 < channel.truth < channel.words:
        return False
    return counts[-1] == 1 and all(
        0 < (count - 1) * step < channel.words if count > 1 else (count, step) == (1, 0)
        for count, step in zip(counts, steps, strict=True)
    )


def _pairs(channel: SubsetChannel) -> Iterator[Outcomes]:
    kinds = Counter(zip(channel.url_counts, channel.url_steps, strict=True))
    for one, other in product(kinds, kinds):
        if one != other or kinds[one] > 1:
            yield _two_queries(channel, one, other)
    for kind in kinds:
        if kind[0] > 1:
            yield _two_urls(channel, kind)


def _two_queries(channel: SubsetChannel, first: Kind, second: Kind) -> Outcomes:
    under_first = _joint(channel, first, second)
    under_second = _joint(channel, second, first)
    return [(p, under_second[b, a]) for (a, b), p in under_first.items()]


def _joint(channel: SubsetChannel, true: Kind, other: Kind) -> dict[tuple[str, str], Fraction]:
    """How the true query and another one are reported: "exact" with one given URL, "inexact" or "absent".

    An inexact report names one of the remaining URLs; which one makes no difference under either input.
    """
    others = len(channel.url_counts) - 1
    mine, uniform = _own(channel, true), _uniform(other)
    outcomes = {}
    for truthful in (True, False):
        probability = query_truth(channel) if truthful else 1 - query_truth(channel)
        also_reported = Fraction(channel.size - truthful, others)
        for mark, share in mine.items() if truthful else [("absent", Fraction(1))]:
            for other_mark, other_share in uniform.items():
                outcomes[mark, other_mark] = probability * share * also_reported * other_share
            outcomes[mark, "absent"] = probability * share * (1 - also_reported)
    return outcomes


def _two_urls(channel: SubsetChannel, kind: Kind) -> Outcomes:
    """The report contains the first URL or the second one; everything else is equally likely under both."""
    honest, lie = (query_truth(channel) * share for share in _honest_and_lie(channel, kind))
    return [(honest, lie), (lie, honest)]


def _own(channel: SubsetChannel, kind: Kind) -> dict[str, Fraction]:
    honest, lie = _honest_and_lie(channel, kind)
    return {"exact": honest, "inexact": lie * (kind[0] - 1)} if kind[0] > 1 else {"exact": honest}


def _uniform(kind: Kind) -> dict[str, Fraction]:
    exact = Fraction(1, kind[0])
    return {"exact": exact, "inexact": 1 - exact} if kind[0] > 1 else {"exact": exact}


def _honest_and_lie(channel: SubsetChannel, kind: Kind) -> tuple[Fraction, Fraction]:
    count, step = kind
    return 1 - Fraction((count - 1) * step, channel.words), Fraction(step, channel.words)
