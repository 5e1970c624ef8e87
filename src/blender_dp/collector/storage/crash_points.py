"""Named places where a crash does the most harm, so that tests can crash at every one of them."""

from __future__ import annotations

import os
import signal

from blender_dp.collector.storage.transactions import TRANSACTIONS

POINTS = (
    *(f"{name}: {moment} commit" for name in TRANSACTIONS for moment in ("before", "after")),
    "key: made empty", "key: made", "key: overwritten", "key: removed",
    "journal: written", "ending: written",
    "list: before work", "release: before work", "release: after export",
)  # fmt: skip
"""All crash points."""

_CRASH_AT = os.environ.get("BLENDER_DP_CRASH_AT", "")


def reached(point: str) -> None:
    """Crash here as in a power failure, if the environment says so."""
    if point == _CRASH_AT:
        os.kill(os.getpid(), signal.SIGKILL)
