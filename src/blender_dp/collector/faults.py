"""Places where a crash hurts most, named, so that tests can crash there: every one of them, not a sample."""

from __future__ import annotations

import os
import signal

POINTS = (
    "migration: before commit", "migration: after commit",
    "answer: before commit", "answer: after commit",
    "key: made empty", "key: made", "key: overwritten", "key: removed",
    "open: before commit", "open: after commit",
    "records: before commit", "records: after commit",
    "withdraw: before commit", "withdraw: after commit",
    "reports: before commit", "reports: after commit",
    "journal: written",
    "freeze: before commit", "freeze: after commit",
    "list: before work", "list: before commit", "list: after commit",
    "close: before commit", "close: after commit",
    "release: before work", "release: after export", "release: before commit", "release: after commit",
    "abort: before commit", "abort: after commit",
)  # fmt: skip
"""All of them."""

_CRASH_AT = os.environ.get("BLENDER_DP_CRASH_AT", "")


def reached(point: str) -> None:
    """Crash here, as by a power failure, if the environment asks for it."""
    if point == _CRASH_AT:
        os.kill(os.getpid(), signal.SIGKILL)
