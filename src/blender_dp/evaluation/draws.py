"""Fast random draws for simulations, with floats. Nothing private may use them: see `sampling` for exact ones."""

from __future__ import annotations

import numpy as np

from blender_dp.logs.synthetic import uniform
from blender_dp.sampling import Entropy
from blender_dp.stages import Floats, Integers

_NORMAL = 25.0  # from this variance on, a binomial count is drawn as a rounded normal number, made as skewed as it is
_TABLE, _ROWS = 8192, 64  # the size of a table of probabilities that is computed at once, and its largest number of rows

_TRIALS = 10**12  # a binomial count of so many is practically a Poisson count


def normal(count: int, entropy: Entropy) -> Floats:
    """Standard normal numbers."""
    return np.concatenate(normal_pairs((count + 1) // 2, entropy))[:count]


def normal_pairs(count: int, entropy: Entropy) -> tuple[Floats, Floats]:
    """Pairs of independent standard normal numbers (Box and Muller)."""
    radius, angle = np.sqrt(-2 * np.log(uniform(count, entropy))), 2 * np.pi * uniform(count, entropy)
    return radius * np.cos(angle), radius * np.sin(angle)


def binomial(trials: Integers, probability: Floats, entropy: Entropy) -> Integers:
    """Binomial counts: by inversion if the variance is small, otherwise as rounded numbers with the same three moments.

    Citation: Cornish and Fisher (1938), for the skewness.
    """
    flipped = probability > 0.5
    p = np.where(flipped, 1 - probability, probability)
    variance = trials * p * (1 - p)
    large = variance >= _NORMAL
    drawn = np.zeros(trials.size, np.int64)
    if large.any():
        z = normal(int(large.sum()), entropy)
        value = trials[large] * p[large] + np.sqrt(variance[large]) * z + (1 - 2 * p[large]) * (z**2 - 1) / 6
        drawn[large] = np.clip(np.rint(value), 0, trials[large]).astype(np.int64)
    small = np.flatnonzero(~large & (trials > 0) & (p > 0))
    drawn[small] = inverted(trials[small], p[small], uniform(small.size, entropy))
    return np.where(flipped, trials - drawn, drawn)


def poisson_counts(means: Floats, entropy: Entropy) -> Integers:
    """Poisson counts."""
    return binomial(np.full(means.size, _TRIALS), means / _TRIALS, entropy)


def spread(total: Integers, ways: Integers, entropy: Entropy) -> Integers:
    """Distribute every total over its number of ways, uniformly: multinomial counts, one after the other."""
    block = np.repeat(np.arange(ways.size), ways)
    start = np.cumsum(ways) - ways
    counts = np.zeros(block.size, np.int64)
    left = total.copy()
    for step in range(int(ways.max(initial=0))):
        open_ = np.flatnonzero(ways > step)
        taken = binomial(left[open_], 1 / (ways[open_] - step), entropy)
        counts[start[open_] + step] = taken
        left[open_] -= taken
    return counts


def inverted(trials: Integers, p: Floats, word: Floats) -> Integers:
    """Binomial counts by inversion: the first count at which the distribution function reaches the uniform number."""
    flipped = p > 0.5
    if flipped.any():  # count the failures: otherwise no success would be too improbable to start with
        failures = inverted(trials[flipped], 1 - p[flipped], 1 - word[flipped])
        drawn = inverted(trials, np.where(flipped, 0.0, p), word)
        drawn[flipped] = trials[flipped] - failures
        return drawn
    drawn = np.zeros(trials.size, np.int64)
    mass = np.exp(trials * np.log1p(-p))
    going = np.flatnonzero((word > mass) & (trials > 0))
    mass, odds, word = (values[going] for values in (mass, p / (1 - p), word))
    most = trials[going]
    reached, last = mass, 0
    while going.size:  # a table of the next counts (by row) of all numbers that have not been reached (by column)
        rows = min(max(_TABLE // going.size, 1), _ROWS)
        count = np.arange(last + 1, last + rows + 1)[:, None]
        masses = odds * (most - count + 1) / count
        masses[0] *= mass
        np.multiply.accumulate(masses, axis=0, out=masses)
        sums = masses.copy()
        sums[0] += reached
        np.add.accumulate(sums, axis=0, out=sums)
        beyond = (word > sums) & (most > count)
        drawn[going] = last + 1 + np.count_nonzero(beyond, axis=0)
        on = beyond[-1]
        going, most, odds, word = going[on], most[on], odds[on], word[on]
        mass, reached, last = masses[-1, on], sums[-1, on], last + rows
    return drawn
