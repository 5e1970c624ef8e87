"""Exact divergences between two output distributions, in rational arithmetic.

A pair of distributions is a list of (p, q): the weights of one output under two neighbouring inputs, or the weights of a
group of outputs with the same ratio p/q. Weights are integers over a common scale.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cmp_to_key
from itertools import accumulate, product

Pair = tuple[int, int]

Scaled = tuple[Sequence[Pair], int]
"""Pairs, and the common scale of their weights."""


def hockey_stick(pairs: Iterable[Pair], factor: Fraction, scale: int) -> Fraction:
    """Return Σ max(0, p - factor·q) / scale: the smallest δ at ε = ln(factor)."""
    numerator, denominator = factor.numerator, factor.denominator
    excess = sum(max(0, p * denominator - q * numerator) for p, q in pairs)
    return Fraction(excess, denominator * scale)


def joint_hockey_stick(first: Scaled, second: Scaled, factor: Fraction) -> Fraction:
    """The `hockey_stick` of two independent outputs observed together.

    Of the second output, only pairs (r, s) with p·r > factor·q·s add to a pair (p, q) of the first one. In descending order
    of r/s these are the first ones, so sums over them are enough.
    """
    ordered = sorted((pair for pair in second[0] if any(pair)), key=cmp_to_key(_by_ratio))
    sums = list(zip((0, *accumulate(r for r, _ in ordered)), (0, *accumulate(s for _, s in ordered)), strict=True))

    def excess(p: int, q: int) -> int:
        r, s = sums[bisect_left(ordered, True, key=lambda pair: p * pair[0] <= q * pair[1])]
        return p * r - q * s

    total = sum(excess(p * factor.denominator, q * factor.numerator) for p, q in first[0])
    return Fraction(total, factor.denominator * first[1] * second[1])


def _by_ratio(one: Pair, other: Pair) -> int:
    """Negative if the ratio of the first is larger."""
    return other[0] * one[1] - one[0] * other[1]


def largest_ratio(pairs: Iterable[Pair]) -> Fraction:
    """Return the largest p/q over the outputs that both inputs can produce; 1 if there are none."""
    highest, over = 0, 1
    for p, q in pairs:
        if q and p * over > highest * q:
            highest, over = p, q
    return Fraction(highest, over) if highest else Fraction(1)


def vanishing(listed: Fraction) -> Scaled:
    """The pairs of a record that only one user has and the neighbour lacks: listed with this probability, or not."""
    return [(listed.numerator, 0), (listed.denominator - listed.numerator, listed.denominator)], listed.denominator


def substituted(losing: Sequence[Scaled], factor: Fraction) -> tuple[Fraction, Fraction]:
    """The largest ratio and the exact δ if a user substitutes a record: one record loses a user and another gains one.

    `losing` has the pairs of every kind of record that may lose a user; a record that gains one has them swapped.
    """
    gaining = [(swapped(pairs), scale) for pairs, scale in losing]
    losses, gains = ([largest_ratio(pairs) for pairs, _ in kinds] for kinds in (losing, gaining))
    cases = product(zip(losing, losses, strict=True), zip(gaining, gains, strict=True))
    return max(losses) * max(gains), max(_both(loss, gain, a * b, factor) for (loss, a), (gain, b) in cases)


def _both(losing: Scaled, gaining: Scaled, ratio: Fraction, factor: Fraction) -> Fraction:
    if ratio > factor:
        return joint_hockey_stick(losing, gaining, factor)
    # Outputs that both neighbours can produce add nothing, so only those that one of them cannot produce are counted.
    (loss, one), (gain, other) = losing, gaining
    shared = [sum(p for p, q in pairs if q) for pairs in (loss, gain)]
    return 1 - Fraction(shared[0] * shared[1], one * other)


def swapped(pairs: Iterable[Pair]) -> list[Pair]:
    """The same neighbours in the other direction."""
    return [(q, p) for p, q in pairs]
