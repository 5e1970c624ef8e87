"""The probability that a record is listed, by the number of users who have it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.sampling.discrete import WORD

CERTAIN = 1e-12


@lru_cache(maxsize=16)
def by_count(mechanism: LaplaceThreshold | TruncatedGeometric) -> NDArray[np.float64]:
    """The probability of being listed for counts of 0, 1, 2, ..., until it is 1 for all practical purposes.

    Far above the threshold, every further user shrinks the probability of *not* being listed by the same factor. So the
    exact fractions, which grow longer and longer, are computed only below.
    """
    exact = [float(mechanism.listing_probability(count)) for count in range(int(mechanism.tau) + 3)]
    factor, missing = mechanism.noise.more / WORD, 1 - exact[-1]
    steps = max(0, int(np.ceil(np.log(CERTAIN / max(missing, CERTAIN)) / np.log(factor))))
    probabilities = np.array([*exact, *(1 - missing * factor ** np.arange(1, steps + 1))])
    probabilities.flags.writeable = False  # it is cached
    return probabilities
