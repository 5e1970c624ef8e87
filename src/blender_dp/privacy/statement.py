"""A promise in plain words."""

from __future__ import annotations

import math
from fractions import Fraction

from blender_dp.privacy.rounding import readable, rounded_up
from blender_dp_device.arithmetic import exp_bounds

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


def statement(group: str, users: int, model: str, epsilon: Fraction, delta: Fraction, reports_from: str) -> str:
    """Say what the promise means for one member of the group. Numbers are exact, or rounded against us."""
    slack = f", plus a probability of {rounded_up(delta)}" if delta else ""
    return (
        f"{group.capitalize()} ({users:,}): had one of them done something else, {_OUTPUT[model]} would have been at most "
        f"{_times(epsilon)} times as likely (e^{_exponent(epsilon)}){slack}. "
        f"{_WHO_SEES[model, reports_from]}."
    )


def _times(epsilon: Fraction) -> str:
    """A number that e^ε does not exceed: e^6 = 403.43 is 404."""
    factor = exp_bounds(epsilon)[1]
    return f"{math.ceil(factor):,}" if 100 < factor < 10**9 else rounded_up(factor)


def _exponent(epsilon: Fraction) -> str:
    text = readable(epsilon)
    return f"({text})" if "/" in text else text


def seeded_warning() -> str:
    """What to say about a run with a seed."""
    return _SEEDED
