"""The exact loss of the subset channel, from its integers, for lists of any size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from blender_dp.privacy.divergence import Scaled, hockey_stick, largest_ratio
from blender_dp.privacy.finding import Finding, nothing_holds
from blender_dp.privacy.loss import Loss
from blender_dp.privacy.rounding import log_above
from blender_dp_device.arithmetic import exp_bounds
from blender_dp_device.channel.subset import SubsetChannel
from blender_dp_device.channel.two_stage import WORD_BITS

NAME = "local channel"

Kind = tuple[int, int]
"""A query's number of URLs and its step: queries of one kind are interchangeable."""


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
    for pairs, scale in _pairs(channel):
        deltas.append(hockey_stick(pairs, factor, scale))
        ratios.append(largest_ratio(pairs))
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


def _pairs(channel: SubsetChannel) -> Iterator[Scaled]:
    """For every two kinds of records: the weights, under both, of the outcomes for which they differ."""
    kinds = Counter(zip(channel.url_counts, channel.url_steps, strict=True))
    for one, other in product(kinds, kinds):
        if one != other or kinds[one] > 1:
            yield _two_queries(channel, one, other)
    for kind in kinds:
        if kind[0] > 1:
            yield _two_urls(channel, kind)


def _two_queries(channel: SubsetChannel, first: Kind, second: Kind) -> Scaled:
    under_first, under_second = _joint(channel, first, second), _joint(channel, second, first)
    count, other_count = first[0], second[0]
    pairs = [(p * count, under_second[b, a] * other_count) for (a, b), p in under_first.items()]
    return pairs, channel.words**2 * (len(channel.url_counts) - 1) * count * other_count


def _joint(channel: SubsetChannel, true: Kind, other: Kind) -> dict[tuple[str, str], int]:
    """How the true query and another one are reported: "exact" with one given URL, "inexact" or "absent".

    An inexact report names one of the remaining URLs; which one makes no difference under either input. The weights are over
    words² · (the number of other queries) · (the number of the other query's URLs).
    """
    words, others, count = channel.words, len(channel.url_counts) - 1, other[0]
    uniform = _marks(1, count - 1)
    outcomes = {}
    for truthful in (True, False):
        weight = channel.truth if truthful else words - channel.truth
        also_reported = channel.size - truthful
        for mark, mine in _own(channel, true).items() if truthful else [("absent", words)]:
            for other_mark, part in uniform.items():
                outcomes[mark, other_mark] = weight * mine * also_reported * part
            outcomes[mark, "absent"] = weight * mine * (others - also_reported) * count
    return outcomes


def _two_urls(channel: SubsetChannel, kind: Kind) -> Scaled:
    """The report contains the first URL or the second one; everything else is equally likely under both."""
    honest, lie = channel.truth * _own(channel, kind)["exact"], channel.truth * kind[1]
    return [(honest, lie), (lie, honest)], channel.words**2


def _own(channel: SubsetChannel, kind: Kind) -> dict[str, int]:
    count, step = kind
    lies = (count - 1) * step
    return _marks(channel.words - lies, lies)


def _marks(exact: int, inexact: int) -> dict[str, int]:
    return {"exact": exact, "inexact": inexact} if inexact else {"exact": exact}
