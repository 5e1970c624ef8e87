"""Places where a crash hurts most, named, so that tests can crash there: every one of them, not a sample."""

from __future__ import annotations

import os
import signal

TRANSACTIONS = (
    "migration", "identity", "operator",
    "answer", "campaign", "enrolment", "record", "withdrawal", "reports",
    "open", "freeze", "list", "close", "release", "abort", "stuck", "forget", "redate",
)  # fmt: skip
"""All that write: `Store.write` asks for one of these names, so that no commit is without its two points."""

POINTS = (
    *(f"{name}: {moment} commit" for name in TRANSACTIONS for moment in ("before", "after")),
    "key: made empty", "key: made", "key: overwritten", "key: removed",
    "journal: written", "ending: written",
    "list: before work", "release: before work", "release: after export",
)  # fmt: skip
"""All of them."""

_CRASH_AT = os.environ.get("BLENDER_DP_CRASH_AT", "")


def reached(point: str) -> None:
    """Crash here, as by a power failure, if the environment asks for it."""
    if point == _CRASH_AT:
        os.kill(os.getpid(), signal.SIGKILL)
