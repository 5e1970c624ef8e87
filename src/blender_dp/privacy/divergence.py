"""Exact divergences between two output distributions, in rational arithmetic.

A pair of distributions is a list of (p, q): the weights of one output under two neighbouring inputs, or the weights of a
group of outputs with the same ratio p/q. Weights are integers over a common scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product

Pair = tuple[int, int]

Scaled = tuple[Sequence[Pair], int]
"""Pairs, and the common scale of their weights."""


def hockey_stick(pairs: Iterable[Pair], factor: Fraction, scale: int) -> Fraction:
    """Return Σ max(0, p - factor·q) / scale: the smallest δ at ε = ln(factor)."""
    numerator, denominator = factor.numerator, factor.denominator
    excess = sum(max(0, p * denominator - q * numerator) for p, q in pairs)
    return Fraction(excess, denominator * scale)


def largest_ratio(pairs: Iterable[Pair]) -> Fraction:
    """Return the largest p/q over the outputs that both inputs can produce; 1 if there are none."""
    return max((Fraction(p, q) for p, q in pairs if p and q), default=Fraction(1))


def independent(first: Sequence[Pair], second: Sequence[Pair]) -> Iterable[Pair]:
    """The pairs of two independent outputs observed together; the scale is the product of the scales."""
    return ((p * r, q * s) for (p, q), (r, s) in product(first, second))


def vanishing(listed: Fraction) -> Scaled:
    """The pairs of a record that only one user has and the neighbour lacks: listed with this probability, or not."""
    return [(listed.numerator, 0), (listed.denominator - listed.numerator, listed.denominator)], listed.denominator


def substituted(losing: Sequence[Scaled], factor: Fraction) -> tuple[Fraction, Fraction]:
    """The largest ratio and the exact δ if a user substitutes a record: one record loses a user and another gains one.

    `losing` has the pairs of every kind of record that may lose a user; a record that gains one has them swapped.
    """
    cases = [(loss, (swapped(gain), scale)) for loss, (gain, scale) in product(losing, losing)]
    worst = max(largest_ratio(loss) * largest_ratio(gain) for (loss, _), (gain, _) in cases)
    return worst, max(_both(*case, factor) for case in cases)


def _both(losing: Scaled, gaining: Scaled, factor: Fraction) -> Fraction:
    (loss, one), (gain, other) = losing, gaining
    if largest_ratio(loss) * largest_ratio(gain) > factor:
        return hockey_stick(independent(loss, gain), factor, one * other)
    # Outputs that both neighbours can produce add nothing, so only those that one of them cannot produce are counted.
    shared = [sum(p for p, q in pairs if q) for pairs in (loss, gain)]
    return 1 - Fraction(shared[0] * shared[1], one * other)


def swapped(pairs: Iterable[Pair]) -> list[Pair]:
    """The same neighbours in the other direction."""
    return [(q, p) for p, q in pairs]
