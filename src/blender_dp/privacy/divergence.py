"""Exact divergences between two output distributions, in rational arithmetic.

A distribution pair is a list of (p, q): the weights two neighbouring inputs give to one output, or to a group of outputs
with one ratio p/q. Weights are integers over a common scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product

Pair = tuple[int, int]

Scaled = tuple[Sequence[Pair], int]
"""Pairs, and what their weights are over."""


def hockey_stick(pairs: Iterable[Pair], factor: Fraction, scale: int) -> Fraction:
    """Return Σ max(0, p - factor·q) / scale: the smallest δ at ε = ln(factor)."""
    numerator, denominator = factor.numerator, factor.denominator
    excess = sum(max(0, p * denominator - q * numerator) for p, q in pairs)
    return Fraction(excess, denominator * scale)


def largest_ratio(pairs: Iterable[Pair]) -> Fraction:
    """Return the largest p/q over the outputs that both inputs can give; 1 if there is none."""
    return max((Fraction(p, q) for p, q in pairs if p and q), default=Fraction(1))


def independent(first: Sequence[Pair], second: Sequence[Pair]) -> Iterable[Pair]:
    """The pairs of two independent outputs seen together; the scale is the product of the scales."""
    return ((p * r, q * s) for (p, q), (r, s) in product(first, second))


def vanishing(listed: Fraction) -> Scaled:
    """The pairs of a record that one user alone holds, and that the neighbour lacks: listed, as probable as that, or not."""
    return [(listed.numerator, 0), (listed.denominator - listed.numerator, listed.denominator)], listed.denominator


def substituted(losing: Sequence[Scaled], factor: Fraction) -> tuple[Fraction, Fraction]:
    """The largest ratio and the exact δ if a user substitutes a record: one loses a user, another one gains it.

    `losing` has the pairs of every kind of record that may lose a user; one that gains it is the same, swapped.
    """
    cases = [(loss, (swapped(gain), scale)) for loss, (gain, scale) in product(losing, losing)]
    worst = max(largest_ratio(loss) * largest_ratio(gain) for (loss, _), (gain, _) in cases)
    return worst, max(_both(*case, factor) for case in cases)


def _both(losing: Scaled, gaining: Scaled, factor: Fraction) -> Fraction:
    (loss, one), (gain, other) = losing, gaining
    if largest_ratio(loss) * largest_ratio(gain) > factor:
        return hockey_stick(independent(loss, gain), factor, one * other)
    # What both neighbours can give adds nothing, so a square of pairs need not be added up: what one cannot give counts.
    shared = [sum(p for p, q in pairs if q) for pairs in (loss, gain)]
    return 1 - Fraction(shared[0] * shared[1], one * other)


def swapped(pairs: Iterable[Pair]) -> list[Pair]:
    """The same neighbours in the other direction."""
    return [(q, p) for p, q in pairs]
