"""The parameters of a collection, checked once, as exact fractions.

The papers' symbols are kept as names, since everybody who tunes them has the papers open: f_o is the share of the opt-in
users who discover the list, f_c the share of a client's budget spent on the query, m_o and m_c the records used per
opt-in user and per client, and M is `max_queries`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blender_dp.errors import ParameterError
from blender_dp_device.arithmetic import Number, exact
from blender_dp_device.records.checks import at_least_one, checked_delta, checked_epsilon, open_unit

PROFILES = {
    "tight": {"discovery": "geometric", "randomiser": "subset", "estimator": "likelihood"},
    "paper": {"discovery": "laplace", "randomiser": "two-stage", "estimator": "average"},
}
"""The known ways to put the stages together: which part of each kind a profile takes."""

PARTS = {kind: tuple(parts[kind] for parts in PROFILES.values()) for kind in ("discovery", "randomiser", "estimator")}
"""The parts of each kind; profiles may be mixed."""


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """What a collection runs with. Make it with `Parameters.of`, which accepts plain numbers and checks them."""

    epsilon: Fraction
    delta: Fraction
    f_o: Fraction
    f_c: Fraction | None
    """Chosen by predicted error if it is None, where the randomiser leaves a choice."""
    subset_size: int | None
    """Likewise."""
    m_o: int
    m_c: int
    max_queries: int
    project: bool
    robust: bool
    profile: str
    discovery: str
    randomiser: str
    estimator: str

    @classmethod
    def of(
        cls,
        *,
        epsilon: Number,
        delta: Number,
        f_o: Number = "0.95",
        f_c: Number | None = None,
        subset_size: int | None = None,
        m_o: int = 1,
        m_c: int = 1,
        max_queries: int = 50,
        project: bool = True,
        robust: bool = True,
        profile: str = "tight",
        discovery: str | None = None,
        randomiser: str | None = None,
        estimator: str | None = None,
    ) -> Parameters:
        """Check the values and keep them exactly. There is no default for ε and δ: they are a promise to people."""
        parts = {"discovery": discovery, "randomiser": randomiser, "estimator": estimator}
        chosen = {kind: _known_part(kind, _known_profile(profile), name) for kind, name in parts.items()}
        if subset_size is not None and chosen["randomiser"] != "subset":
            raise ParameterError("subset_size", "only the randomiser 'subset' has one", "Leave it out, or use that one")
        return cls(
            epsilon=checked_epsilon(epsilon),
            delta=checked_delta(delta),
            f_o=open_unit(f_o, "f_o", "The papers use 0.95"),
            f_c=None if f_c is None else open_unit(f_c, "f_c", "The papers use 0.85"),
            subset_size=None if subset_size is None else at_least_one(subset_size, "subset_size"),
            m_o=at_least_one(m_o, "m_o"),
            m_c=at_least_one(m_c, "m_c"),
            max_queries=at_least_one(max_queries, "max_queries"),
            project=_yes_or_no(project, "project"),
            robust=_yes_or_no(robust, "robust"),
            profile=profile,
            **chosen,
        )


def share_of(value: Number, field: str, fix: str) -> Fraction:
    """Return a number from 0 to 1 as a fraction."""
    number = exact(value, field)
    if not 0 <= number <= 1:
        raise ParameterError(field, f"{value} is not between 0 and 1", fix)
    return number


def _yes_or_no(value: bool, field: str) -> bool:
    if not isinstance(value, bool):
        raise ParameterError(field, f"{value!r} is not a yes or no", "Give True or False")
    return value


def _known_profile(profile: str) -> str:
    if profile not in PROFILES:
        raise ParameterError("profile", f"{profile!r} is not known", f"Take one of: {', '.join(PROFILES)}")
    return profile


def _known_part(kind: str, profile: str, name: str | None) -> str:
    if name is None:
        return PROFILES[profile][kind]
    if name not in PARTS[kind]:
        raise ParameterError(kind, f"{name!r} is not known", f"Take one of: {', '.join(PARTS[kind])}")
    return name
