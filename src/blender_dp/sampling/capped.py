"""Integer-valued noise with a maximum, decided by integers.

From the maximum downwards the probability grows by a factor e^loss per step, as fast as privacy allows, until the remaining
probability fits under an infinite geometric tail. The maximum gets all of δ, so no other noise with this loss and δ
lists a rare record with a higher probability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from blender_dp.errors import ParameterError
from blender_dp.privacy.rounding import readable
from blender_dp.sampling.discrete import WORD, binomial, geometric, table, table_weights
from blender_dp.sampling.stream import Entropy, Words
from blender_dp_device.arithmetic import ceil_decreasing_in_exp, exp_bounds

Integers = NDArray[np.int64]

HIGHEST_CAP = 1 << 16
"""Noise with a larger maximum is refused: in practice it would list only records that about this many users have."""


@dataclass(frozen=True)
class CappedGeometric:
    """Noise of at most `cap`, whose probability changes by at most a factor e^loss per step, as integers over 2^64."""

    more: int
    """Weight of "one step further down" below 0: ⌈2^64 e^-loss⌉, rounded up towards more noise."""

    weights: tuple[int, ...]
    """Weights of 1, 2, ..., cap. The rest of 2^64 is the weight of 0 and everything below it."""

    half_steps = 1
    """Steps per unit: the noise is a whole number of units. Not a dataclass field, so that it cannot be set."""

    @classmethod
    def of(cls, loss: Fraction, delta: Fraction) -> CappedGeometric:
        """Create noise with a loss of `loss` per unit whose maximum has a probability of at most δ."""
        more = ceil_decreasing_in_exp(lambda e: WORD / e, loss)
        rise = exp_bounds(loss)[0]
        falls = WORD - more
        # A δ close to 1 would make the maximum too likely compared with the next value.
        downwards = [min(math.floor(delta * WORD), falls - 1)]
        below = WORD - downwards[0]
        while below * falls > rise * downwards[-1] * WORD:
            if len(downwards) == HIGHEST_CAP:
                problem = f"{readable(delta)} is so small that at this ε a record needs more than {HIGHEST_CAP:,} users"
                raise ParameterError("delta", problem, "Raise delta or epsilon")
            downwards.append(math.floor(rise * downwards[-1]))
            below -= downwards[-1]
        return cls(more, tuple(reversed(downwards)))

    @property
    def is_sound(self) -> bool:
        """Whether the integers are a valid distribution, whatever its loss, and the sampler draws from exactly that one."""
        if not 0 < self.more < WORD or not self.weights or min(self.weights) <= 0 or self.below <= 0:
            return False
        return table_weights(self._cumulative) == [self.below, *self.weights]

    @property
    def cap(self) -> int:
        """The maximum."""
        return len(self.weights)

    @property
    def below(self) -> int:
        """The weight of 0 and everything below it."""
        return WORD - sum(self.weights)

    @cached_property
    def mean(self) -> float:
        """The exact mean, from the integers."""
        return float(self._moments[0])

    @cached_property
    def variance(self) -> float:
        """The exact variance, from the integers."""
        first, second = self._moments
        return float(second - first**2)

    def survival(self, threshold: int) -> Fraction:
        """The exact probability that the noise exceeds `threshold`."""
        if threshold >= 0:
            return Fraction(sum(self.weights[threshold:]), WORD)
        return 1 - Fraction(self.below, WORD) * Fraction(self.more, WORD) ** -threshold

    def threshold_for(self, probability: Fraction) -> int:
        """The lowest threshold, not below 0, that the noise exceeds with at most this probability."""
        upwards = accumulate(reversed(self.weights), initial=0)
        return self.cap - sum(Fraction(above, WORD) <= probability for above in upwards) + 1

    def sample(self, count: int, entropy: Entropy) -> Integers:
        """Draw `count` noise values."""
        noise = table(self._cumulative, count, entropy)
        low = np.flatnonzero(noise == 0)
        noise[low] = -geometric(self.more, low.size, entropy)
        return noise

    def exceeding(self, count: int, threshold: int, entropy: Entropy) -> Integers:
        """Draw `count` noise values and return those above `threshold` (0 or more), without drawing the others."""
        survivors = binomial(count, sum(self.weights[threshold:]), entropy)
        return self.above(survivors, threshold, entropy) if survivors else np.empty(0, np.int64)

    def above(self, count: int, threshold: int, entropy: Entropy) -> Integers:
        """Draw `count` noise values, given that all of them are above `threshold` (0 or more, and below the maximum)."""
        return table(self._cumulative, count, entropy, at_least=threshold + 1)

    @cached_property
    def _moments(self) -> tuple[Fraction, Fraction]:
        down = Fraction(self.more, WORD)
        rest = Fraction(self.below, WORD)
        first = sum((Fraction(w * x, WORD) for x, w in enumerate(self.weights, 1)), -rest * down / (1 - down))
        second = rest * down * (1 + down) / (1 - down) ** 2
        return first, sum((Fraction(w * x * x, WORD) for x, w in enumerate(self.weights, 1)), second)

    @cached_property
    def _cumulative(self) -> Words:
        """The first word of each outcome: 0 and below, 1, 2, ..."""
        return np.array([0, *accumulate(self.weights[:-1], initial=self.below)], np.uint64)
