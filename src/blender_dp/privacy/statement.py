"""A promise in plain words."""

from __future__ import annotations

import math
from fractions import Fraction

from blender_dp.privacy.rounding import readable, rounded_up
from blender_dp_device.arithmetic import exp_bounds

_SEEDED = (
    "This run offers no privacy, because anyone who knows its seed can remove the noise; use it with synthetic data only."
)
_CURATOR_SEES = "The curator sees their raw records and must protect them until the release is made"
_WHO_SEES = {
    ("central", "log"): _CURATOR_SEES,
    ("central", "devices"): _CURATOR_SEES,
    (
        "local",
        "log",
    ): "Their reports were simulated from a log by someone who saw their records, which real devices never reveal",
    ("local", "devices"): "Their devices randomise the records; nobody else, not even the curator, ever sees them",
}
_OUTPUT = {"central": "any published result", "local": "any report"}


def statement(group: str, users: int, model: str, epsilon: Fraction, delta: Fraction, reports_from: str) -> str:
    """What the promise means for one member of a group of this size."""
    words = meaning(model, epsilon, delta, reports_from)
    return f"{group.capitalize()} ({users:,}): {words[0].lower()}{words[1:]}"


def meaning(model: str, epsilon: Fraction, delta: Fraction, reports_from: str) -> str:
    """What the promise means for one person. Numbers are exact, or rounded to never promise too much."""
    slack = f", plus a probability of {rounded_up(delta)}" if delta else ""
    return (
        f"Changing one person's data changes the probability of {_OUTPUT[model]} by at most a factor of "
        f"{_factor(epsilon)} (e^{_exponent(epsilon)}){slack}. {_WHO_SEES[model, reports_from]}."
    )


def _factor(epsilon: Fraction) -> str:
    """A readable upper bound of e^ε: 404 for e^6 = 403.43."""
    factor = exp_bounds(epsilon)[1]
    return f"{math.ceil(factor):,}" if 100 < factor < 10**9 else rounded_up(factor)


def _exponent(epsilon: Fraction) -> str:
    text = readable(epsilon)
    return f"({text})" if "/" in text else text


def seeded_warning() -> str:
    """The warning about a run with a seed."""
    return _SEEDED
