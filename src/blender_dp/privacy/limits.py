"""When ε and δ protect too little: which values are refused unless allowed, and which only cause a warning.

Discovery may publish a record that only one user has with probability δ, so up to about δ·n unique records of n discovery
users are exposed. With δ ≥ 1/n that can be one or more; beyond ε = 20 the factor e^ε is meaningless. `weaknesses` decides.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction

from blender_dp.errors import ParameterError, PrivacyWarning
from blender_dp.privacy.rounding import readable, rounded_down, rounded_up

LARGEST_EPSILON = 20
CAUTIOUS_EPSILON = 10
INVITED_DELTA = Fraction(1, 1000)
"""The δ of an invitation is less: a device cannot compare δ with the number of opt-in users, which it does not know."""
_ALLOW = "allow weak privacy explicitly (--force-weak-privacy, or allow_weak_privacy in Python and the API)"


@dataclass(frozen=True)
class Weakness:
    """One reason why a promise is weak."""

    field: str
    problem: str
    fix: str
    is_refused: bool

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}. {self.fix}."

    @property
    def warning(self) -> str:
        """The text of the warning if weak privacy was allowed."""
        return f"{self.field}: {self.problem}. This was allowed explicitly." if self.is_refused else str(self)


def weaknesses(epsilon: Fraction, delta: Fraction | None = None, opt_in_users: int | None = None) -> tuple[Weakness, ...]:
    """The weaknesses of a promise to this many opt-in users; without their number only ε is judged."""
    return (*_of_epsilon(epsilon), *(_of_delta(delta, opt_in_users) if delta is not None and opt_in_users else ()))


def check_privacy(
    epsilon: Fraction, delta: Fraction | None = None, opt_in_users: int | None = None, *, allowed: bool = False
) -> None:
    """Raise if a promise is too weak and that is not `allowed`; warn (`PrivacyWarning`) about other weaknesses."""
    problems = weaknesses(epsilon, delta, opt_in_users)
    for weakness in problems:
        if weakness.is_refused and not allowed:
            raise ParameterError(weakness.field, weakness.problem, weakness.fix)
    for weakness in problems:
        warnings.warn(weakness.warning, PrivacyWarning, stacklevel=3)


def expected_exposures(delta: Fraction, discovery_users: int) -> Fraction:
    """The expected number of listed records that only one user has: at most δ for each discovery user."""
    return delta * discovery_users


def exposure_statement(delta: Fraction, discovery_users: int) -> str:
    """How many records of single users a list may expose, in words."""
    number = rounded_up(expected_exposures(delta, discovery_users))
    return (
        f"Exposure: with δ = {readable(delta)} and {discovery_users:,} discovery users, up to about {number} records "
        "that only one user has are expected to be listed."
    )


def _of_epsilon(epsilon: Fraction) -> tuple[Weakness, ...]:
    if epsilon <= CAUTIOUS_EPSILON:
        return ()
    shown = readable(epsilon)
    if epsilon <= LARGEST_EPSILON:
        return (Weakness("epsilon", f"{shown} offers little privacy", "Use 4 or less if you can", is_refused=False),)
    problem = f"{shown} is above {LARGEST_EPSILON} and offers no meaningful privacy"
    return (Weakness("epsilon", problem, f"Use 4 or less, or {_ALLOW}", is_refused=True),)


def _of_delta(delta: Fraction, opt_in_users: int) -> tuple[Weakness, ...]:
    if delta * opt_in_users * 10 <= 1:
        return ()
    shown = readable(delta)
    safe = f"1e-{len(str(10 * opt_in_users - 1))}"  # the next power of ten below
    if delta * opt_in_users < 1:
        problem = f"{shown} is more than a tenth of 1 / {opt_in_users:,} opt-in users"
        return (Weakness("delta", problem, f"Use {safe} or less if you can", is_refused=False),)
    problem = (
        f"{shown} is not below 1 / {opt_in_users:,} opt-in users ({rounded_down(Fraction(1, opt_in_users))}): it would "
        "expose records that only one person has"
    )
    return (Weakness("delta", problem, f"Use {safe} or less, or {_ALLOW}", is_refused=True),)
