"""The time as the collector reads it and as it stores it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

HOUR_SECONDS = 3600
"""The precision of stored times."""


@dataclass(eq=False)
class Clock:
    """A clock that all parts of a collector share."""

    read: Callable[[], float] = time.time

    def now(self) -> float:
        """Seconds since 1970."""
        return self.read()

    def hour(self) -> int:
        """The start of the current hour: the only time that is stored."""
        return int(self.read()) // HOUR_SECONDS * HOUR_SECONDS
