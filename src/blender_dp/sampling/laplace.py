"""Laplace noise on a fine grid, decided by integers.

The noise is ±(N + (F + 1/2)/G): a fair sign, a geometric number N of whole units, and a place F among the G grid steps of
one unit. It lies halfway between grid points, so it never equals a threshold on the grid, and ">" and "≥" are the same.

Shifting it by one unit changes N by one, or crosses zero and turns F into G-1-F. The loss of one unit is therefore bounded
by two kinds of integer ratios, and only these need to be checked (`mechanisms/laplace_histogram/proof.md`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from blender_dp.privacy.rounding import exp_below
from blender_dp.sampling.discrete import WORD, binomial, geometric, table, table_weights
from blender_dp.sampling.stream import Entropy, Words
from blender_dp_device.arithmetic import ceil_decreasing_in_exp

GRID_BITS = 10
"""One unit has 2^10 grid steps: fine enough that rounding the threshold costs less than a thousandth of a count."""


@dataclass(frozen=True)
class GridLaplace:
    """Two-sided noise whose probability changes by at most a factor e^`loss` per unit, as integers over 2^64.

    Values are counted in half grid steps: a noise value v stands for v / (2G), and v is odd.
    """

    more: int
    """Weight of "one more unit": ⌈2^64 e^-loss⌉, rounded up towards more noise."""

    weights: tuple[int, ...]
    """Weights of the G places within a unit; they sum to 2^64."""

    @classmethod
    def of(cls, loss: Fraction, grid_bits: int = GRID_BITS) -> GridLaplace:
        """Create noise with a loss of `loss` per unit, that is, with scale 1/loss."""
        more = ceil_decreasing_in_exp(lambda e: WORD / e, loss)
        return cls(more, _place_weights(loss, 1 << grid_bits))

    @property
    def is_sound(self) -> bool:
        """Whether the integers are a valid distribution, whatever its loss, and the sampler draws from exactly that one."""
        if not 0 < self.more < WORD or sum(self.weights) != WORD or min(self.weights) <= 0:
            return False
        return table_weights(self._cumulative) == list(self.weights)

    @property
    def steps(self) -> int:
        """G, the number of grid steps in one unit."""
        return len(self.weights)

    @property
    def half_steps(self) -> int:
        """Half steps per unit; noise values are counted in half steps."""
        return 2 * self.steps

    mean = 0.0
    """The noise is symmetric."""

    @cached_property
    def variance(self) -> float:
        """The exact variance in squared units, from the integers."""
        more = Fraction(self.more, WORD)
        mean_units = more / (1 - more)
        square_units = more * (1 + more) / (1 - more) ** 2
        mean_place, square_place = (
            Fraction(sum(w * (2 * f + 1) ** power for f, w in enumerate(self.weights)), WORD * self.half_steps**power)
            for power in (1, 2)
        )
        return float(square_units + 2 * mean_units * mean_place + square_place)

    def survival(self, threshold: int) -> Fraction:
        """The exact probability that the noise exceeds `threshold`, which is in half steps and on the grid (even)."""
        if threshold < 0:
            return 1 - self.survival(-threshold)
        units, place = self._split(threshold)
        more = Fraction(self.more, WORD)
        return more**units * (1 - (1 - more) * Fraction(self._sums[place], WORD)) / 2

    def sample(self, count: int, entropy: Entropy) -> NDArray[np.int64]:
        """Draw `count` noise values in half steps."""
        signs = 1 - 2 * (entropy.words(count) & np.uint64(1)).astype(np.int64)
        return signs * self._magnitude(geometric(self.more, count, entropy), entropy)

    def threshold_for(self, probability: Fraction) -> int:
        """The lowest threshold on the grid, not below 0, that the noise exceeds with at most this probability."""
        low, high = -2, 2  # survival(low) is too large, survival(high) will not be
        while self.survival(high) > probability:
            low, high = high, 2 * high
        while high - low > 2:
            middle = (low + high) // 4 * 2
            low, high = (middle, high) if self.survival(middle) > probability else (low, middle)
        return high

    def exceeding(self, count: int, threshold: int, entropy: Entropy) -> NDArray[np.int64]:
        """Draw `count` noise values and return those above `threshold` (0 or more), without drawing the others.

        The number of values that remain is reduced step by step: positive sign, first unit, second unit, ..., place. Each
        step is one exact binomial draw, so millions of values cost no more than a few thousand random words.
        """
        units, place = self._split(threshold)
        left = binomial(count, WORD // 2, entropy)
        for _ in range(units):
            left = binomial(left, self.more, entropy)
        beyond = binomial(left, self.more, entropy)
        within = binomial(left - beyond, WORD - self._sums[place], entropy)
        return self._remaining(beyond, within, threshold, entropy)

    def above(self, count: int, threshold: int, entropy: Entropy) -> NDArray[np.int64]:
        """Draw `count` noise values, given that all of them are above `threshold` (0 or more), in any order."""
        _, place = self._split(threshold)
        further, same = self.more * WORD, (WORD - self.more) * (WORD - self._sums[place])
        beyond = sum(entropy.below(further + same) < further for _ in range(count))
        return self._remaining(beyond, count - beyond, threshold, entropy)

    def _remaining(self, beyond: int, within: int, threshold: int, entropy: Entropy) -> NDArray[np.int64]:
        """Noise above a threshold, of which so many values are in a further unit, and so many in the threshold's own."""
        units, place = self._split(threshold)
        further = units + 1 + geometric(self.more, beyond, entropy)
        same_unit = units * self.half_steps + 2 * table(self._cumulative, within, entropy, at_least=place) + 1
        return np.concatenate([self._magnitude(further, entropy), same_unit])

    def _magnitude(self, units: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
        return units * self.half_steps + 2 * table(self._cumulative, units.size, entropy) + 1

    def _split(self, threshold: int) -> tuple[int, int]:
        return divmod(threshold // 2, self.steps)

    @cached_property
    def _sums(self) -> list[int]:
        sums = [0]
        for weight in self.weights[:-1]:
            sums.append(sums[-1] + weight)
        return sums

    @cached_property
    def _cumulative(self) -> Words:
        return np.array(self._sums, np.uint64)


@lru_cache(maxsize=64)  # a collector makes the same noise again for every request that needs a collection
def _place_weights(loss: Fraction, steps: int) -> tuple[int, ...]:
    """Weights ∝ e^(-loss·f/G), rounded down; the first place gets the remainder.

    Their ratios w_f / w_(G-1-f) stay a whole factor e^(loss/G) inside e^±loss, far more than rounding can change.
    """
    raw = exp_below(-loss / steps, steps)
    whole = math.lcm(*(weight.denominator for weight in raw))  # sums of a thousand fractions take long
    parts = [weight.numerator * (whole // weight.denominator) for weight in raw]
    total = sum(parts)
    weights = [part * WORD // total for part in parts]
    weights[0] += WORD - sum(weights)
    return tuple(weights)
