"""Exact divergences between two output distributions, in rational arithmetic.

A distribution pair is a list of (p, q): the weights two neighbouring inputs give to one output, or to a group of outputs
with one ratio p/q. Weights are integers over a common scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product

Pair = tuple[int, int]


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


def swapped(pairs: Iterable[Pair]) -> list[Pair]:
    """The same neighbours in the other direction."""
    return [(q, p) for p, q in pairs]
