"""The limit for reporting: plain one-stage k-ary randomised response in numpy, as fast as we can write it.

It does less than ours: one stage instead of two, no exact integers, and a predictable generator.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.int32]
Response = Callable[[Values, int, float, np.random.Generator], Values]

_CHUNK = 1 << 18  # the fastest size on the machines we tried


def choosing(values: Values, k: int, keep: float, rng: np.random.Generator) -> Values:
    """The usual way: draw another value for everyone, and choose."""
    return np.where(rng.random(values.size) < keep, values, _other(values, k, rng))


def branchless(values: Values, k: int, keep: float, rng: np.random.Generator) -> Values:
    """The same without a choice per value, which the processor would mispredict."""
    other = _other(values, k, rng)
    other -= values
    other *= rng.random(values.size) >= keep
    other += values
    return other


def chunked(response: Response) -> Response:
    """The same in pieces that fit the cache."""

    def in_pieces(values: Values, k: int, keep: float, rng: np.random.Generator) -> Values:
        out = np.empty_like(values)
        for start in range(0, values.size, _CHUNK):
            piece = slice(start, start + _CHUNK)
            out[piece] = response(values[piece], k, keep, rng)
        return out

    return in_pieces


def keep_probability(k: int, epsilon: float) -> float:
    """How often k-ary randomised response tells the truth."""
    return float(np.exp(epsilon) / (np.exp(epsilon) + k - 1))


def _other(values: Values, k: int, rng: np.random.Generator) -> Values:
    other = rng.integers(0, k - 1, values.size, dtype=np.int32)
    other += other >= values
    return other


FORMS: dict[str, Response] = {
    "numpy, np.where, one array": choosing,
    "numpy, np.where, chunked": chunked(choosing),
    "numpy, branchless, one array": branchless,
    "numpy, branchless, chunked": chunked(branchless),
}
