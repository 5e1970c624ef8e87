"""The parameters of a collection, checked once, as exact fractions.

The papers' symbols are kept as names, since everybody who tunes them has the papers open: f_o is the share of the opt-in
users who discover the list, f_c the share of a client's budget spent on the query, m_o and m_c the records used per
opt-in user and per client, and M is `max_queries`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blender_dp.arithmetic import Number, exact
from blender_dp.errors import ParameterError

PROFILES = {
    "tight": {"discovery": "geometric", "randomiser": "subset", "estimator": "likelihood"},
    "paper": {"discovery": "laplace", "randomiser": "two-stage", "estimator": "average"},
}
"""The known ways to put the stages together: which part of each kind a profile takes."""

PARTS = {kind: tuple(parts[kind] for parts in PROFILES.values()) for kind in ("discovery", "randomiser", "estimator")}
"""The parts of each kind; profiles may be mixed."""

# Probabilities are integers over 2^64, which a larger ε could not use: e^44 is already beyond them.
_LARGEST_EPSILON = 64
_SMALLEST_EPSILON = Fraction(1, 1 << 19)


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


def checked_epsilon(value: Number, field: str = "epsilon") -> Fraction:
    """Return ε as a fraction; it must be positive and small enough to be a promise."""
    epsilon = exact(value, field)
    if epsilon <= 0:
        raise ParameterError(field, f"{value} is not positive", "Take a value such as 1 or 4; smaller is more private")
    if epsilon < _SMALLEST_EPSILON:
        raise ParameterError(
            field, f"{value} lets nothing through", f"Take a value of at least {float(_SMALLEST_EPSILON):g}"
        )
    if epsilon > _LARGEST_EPSILON:
        raise ParameterError(
            field, f"{value} protects nobody", f"Take a value of at most {_LARGEST_EPSILON}, better 4 or less"
        )
    return epsilon


def checked_delta(value: Number, field: str = "delta") -> Fraction:
    """Return δ as a fraction strictly between 0 and 1."""
    return open_unit(value, field, "Take a value well below 1 / number of users, such as 1e-6")


def open_unit(value: Number, field: str, fix: str) -> Fraction:
    """Return a number strictly between 0 and 1 as a fraction."""
    number = exact(value, field)
    if not 0 < number < 1:
        raise ParameterError(field, f"{value} is not between 0 and 1 (both excluded)", fix)
    return number


def share_of(value: Number, field: str, fix: str) -> Fraction:
    """Return a number from 0 to 1 as a fraction."""
    number = exact(value, field)
    if not 0 <= number <= 1:
        raise ParameterError(field, f"{value} is not between 0 and 1", fix)
    return number


def at_least_one(value: int, field: str) -> int:
    """Return a whole number that is 1 or more."""
    number = exact(value, field)
    if number.denominator != 1 or number < 1:
        raise ParameterError(field, f"{value} is not a whole number of at least 1", "Take 1 or more")
    return int(number)


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
