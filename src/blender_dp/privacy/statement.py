"""A promise in plain words."""

from __future__ import annotations

import math

_SEEDED = (
    "This run was seeded: whoever knows the seed can undo the noise. It protects nobody and is fit for made-up people only."
)
_WHO_SEES = {
    ("central", "log"): "The curator sees their raw records and must protect them until the release is made",
    ("central", "devices"): "The curator sees their raw records and must protect them until the release is made",
    ("local", "log"): (
        "Whoever ran this made their reports from a log and saw their records; on devices of their own nobody would"
    ),
    ("local", "devices"): "Their devices randomise the record; nobody, the curator included, ever sees it",
}
_OUTPUT = {"central": "any published result", "local": "any report of theirs"}


def statement(group: str, users: int, model: str, epsilon: float, delta: float, reports_from: str) -> str:
    """Say what the promise means for one member of the group."""
    slack = f", plus a probability of {delta:g}" if delta else ""
    return (
        f"{group.capitalize()} ({users:,}): had one of them done something else, {_OUTPUT[model]} would have been at most "
        f"{math.exp(epsilon):.3g} times as likely (e^{epsilon:g}){slack}. "
        f"{_WHO_SEES[model, reports_from]}."
    )


def seeded_warning() -> str:
    """What to say about a run with a seed."""
    return _SEEDED
