"""Time several ways of doing the same thing, in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence


def seconds(ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """The time of every way in every round. They take turns, so that a slow spell of the machine affects all of them."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            start = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - start)
    return taken


def spread(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """The quartiles of the ratios by round, which show how much a single ratio can be trusted."""
    quartiles = statistics.quantiles((a / b for a, b in zip(ours, theirs, strict=True)), n=4, method="inclusive")
    return " ".join(f"{quartile:.2f}" for quartile in quartiles)
