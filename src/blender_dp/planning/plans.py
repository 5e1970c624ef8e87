"""A plan: what a collection would find, what it would cost its users, and what other kinds of trust would buy."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from blender_dp.errors import ParameterError
from blender_dp.parameters import Parameters
from blender_dp.planning.forecasts import Forecast, forecast, usual_runs
from blender_dp.planning.limits import check_length, check_opt_in, check_users
from blender_dp.planning.listing import needed_count
from blender_dp.planning.risk import MOST_ROUNDS, ROUNDS, statement
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import simulated
from blender_dp.planning.sources import Planned, outline_of
from blender_dp.planning.trust import Trust, compared
from blender_dp.privacy.limits import exposure_statement, weaknesses
from blender_dp.release.manifest import Sizes
from blender_dp_device.arithmetic import Number
from blender_dp_device.records.checks import at_least_one

_DESIGNS = 4  # collections that choose their own channel, as all real ones do; it takes as long as the rest of one


@dataclass(frozen=True)
class Plan:
    """The answer to "what would I get?", before anyone's data are collected."""

    shape: str
    sizes: Sizes
    parameters: Parameters
    needed_count: int
    """A record that this many discovery users have is listed with a probability of 1/2 or more."""
    forecast: Forecast
    trust: tuple[Trust, ...]
    risks: tuple[str, ...]
    """What one person risks: a statement for each group, and how many records may be exposed."""
    warnings: tuple[str, ...]
    """Why ε or δ is weak for this many users, and what the plan cannot know."""

    @property
    def users(self) -> int:
        """The number of all users."""
        return self.sizes.discovery + self.sizes.calibration + self.sizes.clients

    def to_document(self) -> dict[str, Any]:
        """Everything as JSON values."""
        p = self.parameters
        parts = {name: getattr(p, name) for name in ("profile", "discovery", "randomiser", "estimator", "max_queries")}
        return {
            "shape": self.shape,
            "users": self.users,
            "groups": asdict(self.sizes),
            "parameters": {"epsilon": str(p.epsilon), "delta": str(p.delta), "f_o": str(p.f_o), **parts},
            "needed_count": self.needed_count,
            "forecast": self.forecast.to_document(),
            "trust": [asdict(one) for one in self.trust],
            "risks": list(self.risks),
            "warnings": list(self.warnings),
        }


def plan(
    shape: Planned,
    *,
    opt_in: Number,
    users: int | None = None,
    runs: int | None = None,
    rounds: int = ROUNDS,
    **parameters: Any,  # noqa: ANN401 (the arguments of `Parameters`, with their types)
) -> Plan:
    """Predict a collection: `shape` is `aol`, `yandex`, `zipf:1.1`, a release or a log (or the path of one).

    `opt_in` is the share of the users who opt in; `users` is by default the number of users of the shape. `runs` is how
    many collections are simulated, and `rounds` in how many rounds the same people participate. Further arguments are the
    parameters of the collection, as for `Blender`: at least `epsilon` and `delta`.
    """
    return plan_of(setting_of(shape, opt_in, users, Parameters(**parameters)), runs, rounds)


def setting_of(shape: Planned, opt_in: Number, users: int | None, parameters: Parameters) -> Setting:
    """Check and combine what is to be planned."""
    outline = outline_of(shape)
    many = outline.users if users is None else check_users(users)
    check_length(parameters.max_queries)
    return Setting(outline, many, check_opt_in(opt_in), parameters)


def plan_of(setting: Setting, runs: int | None = None, rounds: int = ROUNDS) -> Plan:
    """The whole plan for a setting."""
    if at_least_one(rounds, "rounds") > MOST_ROUNDS:
        raise ParameterError("rounds", f"{rounds} a year are too many", f"Use at most {MOST_ROUNDS:,}")
    sizes, p, promises = setting.sizes, setting.parameters, setting.collection.promises()
    opt_in_users = sizes.discovery + sizes.calibration
    several = usual_runs(setting) if runs is None else at_least_one(runs, "runs")
    results = simulated(setting, several, designs=min(_DESIGNS, (several + 1) // 2))
    members = (opt_in_users, sizes.clients)
    return Plan(
        shape=setting.outline.name,
        sizes=sizes,
        parameters=p,
        needed_count=needed_count(setting.of_count),
        forecast=forecast(setting, results),
        trust=compared(setting, results),
        risks=(
            *(statement(promise, size, rounds) for promise, size in zip(promises, members, strict=True)),
            exposure_statement(p.delta, sizes.discovery),
        ),
        warnings=(*map(str, weaknesses(p.epsilon, p.delta, opt_in_users)), *setting.warnings),
    )
