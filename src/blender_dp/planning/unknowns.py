"""The quantities of a plan that can be varied or solved for, and how a setting changes with each of them."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from blender_dp.errors import ParameterError
from blender_dp.planning.limits import MOST_QUERIES, MOST_USERS, check_length, check_opt_in, check_users
from blender_dp.planning.setting import Setting
from blender_dp.privacy.limits import LARGEST_EPSILON


@dataclass(frozen=True)
class Unknown:
    """One quantity: its name, the range in which it is looked for, and how to set it."""

    name: str
    label: str
    lowest: float
    highest: float
    set: Callable[[Setting, float], Setting]
    get: Callable[[Setting], float]
    values: Callable[[Setting], Sequence[float]]
    """Values for a table or a plot."""
    is_whole: bool = False

    def rounded(self, value: float, *, up: bool = True) -> float:
        """Two digits are enough for a plan; whole numbers stay whole, and no value leaves the range."""
        if self.is_whole and value < 100:
            return self._within(float(-(-value // 1) if up else value // 1))
        context = decimal.Context(prec=2, rounding=decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR)
        shown = Decimal(f"{value:.12g}")  # 0.9 is a little more than 0.9 in binary, but needs no rounding
        return self._within(float(context.create_decimal(shown)))

    def _within(self, value: float) -> float:
        return min(max(value, self.lowest), self.highest)


def _with_opt_in(setting: Setting, value: float) -> Setting:
    return replace(setting, opt_in=check_opt_in(value))


def _with_epsilon(setting: Setting, value: float) -> Setting:
    if value == float(setting.parameters.epsilon):  # which may have more digits
        return setting
    return replace(setting, parameters=replace(setting.parameters, epsilon=f"{value:.6g}"))


def _with_users(setting: Setting, value: float) -> Setting:
    return replace(setting, users=check_users(round(value)))


def _with_max_queries(setting: Setting, value: float) -> Setting:
    return replace(setting, parameters=replace(setting.parameters, max_queries=check_length(round(value))))


def _around(setting: Setting) -> Sequence[float]:
    users = (round(setting.users * factor) for factor in (0.1, 0.25, 0.5, 1, 2, 4, 10))
    return [many for many in users if 1 <= many <= MOST_USERS]


UNKNOWNS = {
    "opt-in": Unknown(
        "opt-in", "share of users who opt in", 1e-4, 0.9, _with_opt_in, lambda s: s.opt_in,
        lambda s: sorted({0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, s.opt_in}),
    ),
    "epsilon": Unknown(
        "epsilon", "ε", 0.05, LARGEST_EPSILON, _with_epsilon, lambda s: float(s.parameters.epsilon),
        lambda s: sorted({0.5, 1, 2, 3, 4, 5, 6, float(s.parameters.epsilon)}),
    ),
    "users": Unknown("users", "users", 1e3, MOST_USERS, _with_users, lambda s: s.users, _around, is_whole=True),
    "max-queries": Unknown(
        "max-queries", "maximum number of queries M", 1, MOST_QUERIES, _with_max_queries, lambda s: s.parameters.max_queries,
        lambda s: sorted({10, 25, 50, 100, 200, 500, s.parameters.max_queries}), is_whole=True,
    ),
}  # fmt: skip
"""What `--over` and `--solve` accept."""


def unknown_of(name: str, field: str) -> Unknown:
    """The quantity with this name, which may be written with an underscore."""
    unknown = UNKNOWNS.get(name.replace("_", "-"))
    if unknown is None:
        raise ParameterError(field, f"{name!r} is unknown", f"Use one of: {', '.join(UNKNOWNS)}")
    return unknown
