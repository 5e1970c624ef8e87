"""The exact loss of the local channel, from its integers, for lists of any size."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from blender_dp.mechanisms.two_stage_response.weights import uniform_weights
from blender_dp.privacy.divergence import Pair, hockey_stick, largest_ratio, swapped
from blender_dp.privacy.finding import Finding, nothing_holds
from blender_dp.privacy.loss import Loss
from blender_dp.privacy.rounding import log_above
from blender_dp_device.arithmetic import exp_bounds
from blender_dp_device.channel.two_stage import WORD_BITS, Channel

NAME = "local channel"


def audit(channel: Channel, claim: Loss) -> Finding:
    """Compute the worst case over all pairs of records a client might hold, for one report.

    The samplers always draw 64-bit words, so a table for words of another length is not the one they use.
    """
    return worst_case(channel, claim) if channel.bits == WORD_BITS else nothing_holds(NAME, claim)


def worst_case(channel: Channel, claim: Loss) -> Finding:
    """The audit of a channel with words of any length: tests enumerate short ones.

    Two records with different queries differ only in the outputs of these two queries, and the contribution of one does
    not depend on the other: the worst pair combines the worst query to leave with the worst query to enter. Queries with
    equally many URLs (and equal steps) are interchangeable, so a few kinds of them represent the whole list. All single
    items, and ⋆, are of one kind.
    """
    if not is_sound(channel):
        return nothing_holds(NAME, claim)
    factor = exp_bounds(claim.epsilon)[0]
    scale = channel.words**2
    kinds = Counter(zip(channel.url_counts, channel.url_steps, strict=True))
    leaving, entering = {}, {}
    deltas, ratios = [Fraction(0)], [Fraction(1)]
    for kind in kinds:
        options = _against_other_queries(channel, *kind)
        leaving[kind] = max(hockey_stick(pairs, factor, scale) for pairs in options)
        entering[kind] = max(hockey_stick(swapped(pairs), factor, scale) for pairs in options)
        siblings = _against_other_urls(channel, *kind)
        deltas.append(hockey_stick(siblings, factor, scale))
        ratios.append(largest_ratio(siblings))
        if len(channel.url_counts) > 1:
            ratios += [largest_ratio(p) for pairs in options for p in (pairs, swapped(pairs))]
    deltas += [leaving[a] + entering[b] for a in kinds for b in kinds if a != b or kinds[a] > 1]
    return Finding(NAME, claim, log_above(max(ratios)), max(deltas))


def is_sound(channel: Channel) -> bool:
    """Whether the integers are a valid channel, whatever its loss: one step per query, no weight below 0."""
    counts, steps = channel.url_counts, channel.url_steps
    if not counts or len(counts) != len(steps) or counts[-1] != 1 or min(counts) < 1:
        return False
    return all(
        0 < (count - 1) * step < channel.words if count > 1 else step == 0
        for count, step in zip((len(counts), *counts), (channel.query_step, *steps), strict=True)
    )


def _against_other_queries(channel: Channel, count: int, step: int) -> list[list[Pair]]:
    """For one kind of query: the weights of its URLs if it is the true query, and if another one is.

    Uniform URLs have weights that differ by one word; the true URL may be one of the lighter or one of the heavier ones.
    """
    uniform = uniform_weights(channel.words, count)
    truthful = channel.words - channel.query_lie_bound
    honest = channel.words - (count - 1) * step
    return [
        [(truthful * (honest if url == true else step), channel.query_step * uniform[url]) for url in range(count)]
        for true in {uniform.index(min(uniform)), uniform.index(max(uniform))}
    ]


def _against_other_urls(channel: Channel, count: int, step: int) -> list[Pair]:
    """For one kind of query: the weights of two of its URLs, if the first and if the second is the true one."""
    if count == 1:
        return []
    truthful = channel.words - channel.query_lie_bound
    honest = channel.words - (count - 1) * step
    return [(truthful * honest, truthful * step), (truthful * step, truthful * honest)]
