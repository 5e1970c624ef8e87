"""A promise in plain words."""

from __future__ import annotations

import math

_OUTPUT = {"central": "any published result", "local": "any report of theirs"}
_WHO_SEES = {
    "central": "The curator sees their raw records and must protect them until the release is made",
    "local": "Their records are randomised on the device; nobody, the curator included, ever sees them",
}
_SEEDED = (
    "This run was seeded: whoever knows the seed can undo the noise. It protects nobody and is fit for made-up people only."
)


def statement(group: str, users: int, model: str, epsilon: float, delta: float) -> str:
    """Say what the promise means for one member of the group."""
    return (
        f"{group.capitalize()} ({users:,}): replacing all that one of them did changes the probability of {_OUTPUT[model]} "
        f"by a factor of at most {math.exp(epsilon):.3g} (e^{epsilon:g}), but for outcomes of total probability {delta:g} "
        f"at most. {_WHO_SEES[model]}."
    )


def seeded_warning() -> str:
    """What to say about a run with a seed."""
    return _SEEDED
