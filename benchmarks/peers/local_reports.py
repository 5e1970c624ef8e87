"""Draws reports of local methods for the tests of their promises."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from evidence import Draw

DRAWS, REPORTS = 50, 40  # values, and reports per value

Client = Callable[[int], object]
Event = Callable[[object], bool]


def drawn(noise: Callable[[], object]) -> Draw:
    """Draw values that are never equal by chance: each is the text of the noise of many reports."""

    def value() -> str:
        return json.dumps([noise() for _ in range(REPORTS)], default=lambda report: report.tolist())

    return lambda: [value() for _ in range(DRAWS)]


def happened(client: Client, values: Sequence[object], event: Event, trials: int) -> tuple[int, int]:
    """How often the reports of each of two values show an event."""
    one, other = (sum(bool(event(client(value))) for _ in range(trials)) for value in values)
    return one, other
