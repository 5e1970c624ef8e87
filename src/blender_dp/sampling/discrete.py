"""Exact samplers for discrete distributions: binomial counts, uniform subsets, bounded integers, table look-ups."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from blender_dp.sampling.stream import Entropy, Words

WORD = 1 << 64
"""The denominator of all probabilities; their numerators are integers."""

_FEW = 512  # drawing this many words costs less than the calls that would avoid it


def binomial(trials: int, weight: int, entropy: Entropy) -> int:
    """Draw Binomial(trials, weight / 2^64) exactly, with about two random bits per trial.

    Each trial compares a uniform fraction with the probability, bit by bit from the top. Only trials that are still tied
    need another bit, and the number of them that get a 1 is the number of ones among that many random bits. The last few
    trials get all their bits at once.
    """
    if weight >= WORD:
        return trials
    successes, tied = 0, trials
    while tied > _FEW and weight:
        ones = _ones(tied, entropy)
        if weight >= WORD // 2:
            successes, tied = successes + tied - ones, ones  # a 0 where the probability has a 1: the fraction is below it
        else:
            tied -= ones  # a 1 where the probability has a 0: the fraction is above it
        weight = weight * 2 % WORD
    if weight == 0:  # no bits of the probability remain, so the tied fractions are not below it
        return successes
    return successes + int(np.count_nonzero(entropy.words(tied) < np.uint64(weight)))


def distinct(population: int, size: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draw `size` different numbers from 0..population-1, in uniform order; efficient if `size` is a small part of it."""
    chosen: NDArray[np.int64] = np.empty(0, np.int64)
    while chosen.size < size:
        # The first `size` distinct values of a uniform sequence are a uniform subset in uniform order.
        merged = np.concatenate([chosen, integers_below(population, size - chosen.size, entropy)])
        _, first_seen = np.unique(merged, return_index=True)
        chosen = merged[np.sort(first_seen)]
    return chosen


def integers_below(bound: int, count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draw uniform integers in [0, bound) for a bound of at most 2^63, exactly (by rejection)."""
    step = (WORD - 1) // bound  # words from step * bound upwards are rejected, so that every value is equally likely
    accepted: list[NDArray[np.int64]] = []
    missing = count
    while missing:
        index = entropy.words(missing) // np.uint64(step)
        valid = index[index < bound].astype(np.int64)
        accepted.append(valid)
        missing -= valid.size
    return np.concatenate(accepted) if accepted else np.empty(0, np.int64)


def integers_below_each(bounds: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
    """Draw a uniform integer below each bound, exactly (by rejection)."""
    limits = bounds.astype(np.uint64)
    steps = np.uint64(WORD - 1) // limits
    numbers = entropy.words(bounds.size).reshape(bounds.shape) // steps
    while (rejected := numbers >= limits).any():
        numbers[rejected] = entropy.words(int(np.count_nonzero(rejected))) // steps[rejected]
    return numbers.astype(np.int64)


def geometric(more: int, count: int, entropy: Entropy) -> NDArray[np.int64]:
    """Draw how many times "one more", which has probability `more` / 2^64, comes up before the first failure."""
    units = np.zeros(count, np.int64)
    active = np.arange(count)
    while active.size:
        active = active[entropy.words(active.size) < np.uint64(more)]
        units[active] += 1
    return units


def table_weights(cumulative: Words) -> list[int]:
    """The weights, over 2^64, with which `table` actually draws each index."""
    edges = [*(int(edge) for edge in cumulative), WORD]
    return [high - low for low, high in pairwise(edges)]


def table(cumulative: Words, count: int, entropy: Entropy, *, at_least: int = 0) -> NDArray[np.int64]:
    """Draw indices of a table that is given by the running sums of its weights (over 2^64, starting with 0).

    The draw is conditioned on the index being at least `at_least`.
    """
    if at_least == 0:
        words = entropy.words(count)
    else:
        floor = int(cumulative[at_least])
        words = np.array([floor + entropy.below(WORD - floor) for _ in range(count)], np.uint64)
    return np.searchsorted(cumulative, words, side="right").astype(np.int64) - 1


def _ones(bits: int, entropy: Entropy) -> int:
    words = entropy.words((bits + 63) // 64)
    words[-1] >>= np.uint64(-bits % 64)
    return int(np.bitwise_count(words).sum(dtype=np.int64))
