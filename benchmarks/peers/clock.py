"""Times a peer's client side; runs in the peers' environment."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import numpy as np


def arguments() -> tuple[int, float, np.ndarray, int]:
    """k, ε, the clients' values and the number of rounds."""
    k, epsilon, clients, rounds = sys.argv[1:]
    return int(k), float(epsilon), np.random.default_rng(0).integers(0, int(k), int(clients)), int(rounds)


def report(uses: dict[str, Callable[[], object]], clients: int, rounds: int) -> None:
    """Print the best rate of every way of using the peer, after one round that is not timed."""
    print(json.dumps({name: clients / _best(use, rounds) for name, use in uses.items()}))


def _best(use: Callable[[], object], rounds: int) -> float:
    use()
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        use()
        best = min(best, time.perf_counter() - start)
    return best
