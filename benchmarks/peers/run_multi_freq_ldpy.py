"""multi-freq-ldpy's GRR, client side: used as intended, and called from a compiled loop.

The library has no such loop, but its function is compiled by numba, so its users can write one.
"""

from __future__ import annotations

import numba
import numpy as np
from clock import arguments, report
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

k, epsilon, values, rounds = arguments()
whole = values.tolist()


@numba.njit
def compiled(values: np.ndarray, k: int, epsilon: float) -> np.ndarray:
    out = np.empty_like(values)
    for i in range(values.size):
        out[i] = GRR_Client(values[i], k, epsilon)
    return out


report(
    {
        "one call per client": lambda: [GRR_Client(value, k, epsilon) for value in whole],
        "own numba loop": lambda: compiled(values, k, epsilon),
    },
    values.size,
    rounds,
)
