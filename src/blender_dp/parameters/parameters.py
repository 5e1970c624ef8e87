"""The parameters of a collection, checked once and stored as exact fractions.

The names are the papers' symbols, since anyone who tunes them has the papers open: f_o is the share of the opt-in users
who discover the list, f_c the share of a client's budget that is spent on the query, m_o and m_c the records used per
opt-in user and per client, and M is `max_queries`.

To add a parameter, add one line to `Parameters` and use it. The command-line options, the manifest, `repr` and the
constructor of `Blender` follow from that line.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path

from blender_dp.errors import ParameterError
from blender_dp.parameters.checks import between_0_and_1, one_of, optional, public_list, true_or_false
from blender_dp.parameters.parameter import Parameter
from blender_dp.parameters.profiles import PARTS, PROFILES
from blender_dp_device.arithmetic import Number
from blender_dp_device.records.checks import at_least_one, checked_delta, checked_epsilon
from blender_dp_device.records.head_list import HeadList

_Exact = Parameter[Number, Fraction]
_Count = Parameter[int, int]
_Switch = Parameter[bool, bool]
_Part = Parameter[str | None, str]

_F_C = optional(between_0_and_1("The papers use 0.85"))
_CANDIDATES = optional(public_list)


def _part(kind: str) -> _Part:
    """The parameter that chooses one part; by default `Parameters` uses the profile's."""

    def check(value: str | None, field: str) -> str:
        return "" if value is None else one_of(PARTS[kind])(value, field)

    description = f"Use this {kind} instead of the profile's."
    return Parameter(check, description, kind=str, default=None, metavar="|".join(PARTS[kind]))


@dataclass(frozen=True, kw_only=True, repr=False)
class Parameters:
    """What defines a collection. Pass plain numbers: they are checked and converted.

    ε and δ have no default, because they are a promise to people.
    """

    profile: Parameter[str, str] = Parameter(
        one_of(PROFILES), "Set of mechanisms and estimator to use.", kind=str, default="tight", metavar="|".join(PROFILES)
    )
    discovery: _Part = _part("discovery")
    randomiser: _Part = _part("randomiser")
    estimator: _Part = _part("estimator")
    epsilon: _Exact = Parameter(
        checked_epsilon,
        "Privacy loss ε of every user; smaller is more private.",
        kind=Fraction,
        metavar="NUMBER",
        in_campaign=True,
    )
    delta: _Exact = Parameter(
        checked_delta,
        "Probability δ that the ε bound fails; far below 1 / opt-in users.",
        kind=Fraction,
        metavar="NUMBER",
        in_campaign=True,
    )
    f_o: _Exact = Parameter(
        between_0_and_1("The papers use 0.95"),
        "Share of opt-in users who discover the list (f_O).",
        default="0.95",
        kind=Fraction,
        metavar="NUMBER",
        in_campaign=True,
    )
    f_c: Parameter[Number | None, Fraction | None] = Parameter(
        _F_C,
        "Share of a client's budget for the query (f_C); by default the one with the smallest predicted error.",
        default=None,
        kind=Fraction,
        metavar="NUMBER",
    )
    subset_size: Parameter[int | None, int | None] = Parameter(
        optional(at_least_one),
        "Queries per report of the randomiser 'subset'; by default the number with the smallest predicted error.",
        default=None,
        kind=int,
        metavar="N",
    )
    m_o: _Count = Parameter(at_least_one, "Records used per opt-in user (m_O).", default=1, kind=int, metavar="N")
    m_c: _Count = Parameter(at_least_one, "Records used per client (m_C).", default=1, kind=int, metavar="N")
    max_queries: _Count = Parameter(
        at_least_one, "Maximum number of queries to list (M).", default=50, kind=int, metavar="N", in_campaign=True
    )
    project: _Switch = Parameter(
        true_or_false,
        "Estimator 'average': project the estimates onto a probability distribution.",
        default=True,
        kind=bool,
    )
    robust: _Switch = Parameter(
        true_or_false,
        "Estimator 'likelihood': trust opt-in users less where clients contradict them.",
        default=True,
        kind=bool,
    )
    candidates: Parameter[HeadList | Path | str | None, HeadList | None] = Parameter(
        _CANDIDATES,
        "A public head list, such as an earlier release's: its records are listed without a threshold.",
        default=None,
        kind=HeadList,
        metavar="FILE",
        in_manifest=False,
    )
    allow_weak_privacy: _Switch = Parameter(
        true_or_false,
        "Allow ε above 20, or δ of 1 / opt-in users or more. The release records this.",
        default=False,
        kind=bool,
        flag="--force-weak-privacy",
        in_manifest=False,
        in_campaign=True,
    )

    def __post_init__(self) -> None:
        """Fill in the profile's parts where none was named, and check the parameters that depend on each other."""
        for kind, part in PROFILES[self.profile].items():
            if not getattr(self, kind):
                object.__setattr__(self, kind, part)
        if self.randomiser != "subset" and self.subset_size not in {None, 1}:
            problem = f"the randomiser {self.randomiser!r} reports one query"
            raise ParameterError("subset_size", problem, "Leave it out, or use the randomiser 'subset'")

    def __repr__(self) -> str:
        return f"Parameters({self.described()})"

    def described(self) -> str:
        """The parameters as keyword arguments, without those that follow from the profile and those that are not set."""
        known = definitions(type(self))
        hidden = {name: one.default for name, one in known.items() if one.default is None or not one.in_manifest}
        hidden |= PROFILES[self.profile]
        values = {name: getattr(self, name) for name in sorted(known, key=_CHOICES.__contains__)}
        shown = {name: value for name, value in values.items() if name not in hidden or value != hidden[name]}
        return ", ".join(
            f"{name}={value!r}" if isinstance(value, str) else f"{name}={value}" for name, value in shown.items()
        )


_CHOICES = frozenset({"profile", *PARTS})


def definitions(parameters: type[Parameters] = Parameters) -> dict[str, Parameter[object, object]]:
    """The definition of every parameter by its name."""
    owners = {name: owner for owner in reversed(parameters.__mro__) for name in vars(owner)}
    return {field.name: vars(owners[field.name])[field.name] for field in fields(parameters)}
