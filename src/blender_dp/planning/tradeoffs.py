"""How the result changes with one quantity, everything else being equal."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from blender_dp.errors import BlenderError
from blender_dp.planning.forecasts import Forecast, forecast, usual_runs
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import simulated
from blender_dp.planning.unknowns import unknown_of

_QUERIES = 300  # listed in all simulated collections together; the same random numbers are used at every value
_THREADS = 2  # numpy's work on long lists runs beside that of another value


@dataclass(frozen=True)
class Point:
    """The forecast at one value."""

    value: float
    forecast: Forecast

    def to_document(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {"value": self.value, **self.forecast.to_document()}


@dataclass(frozen=True)
class Tradeoff:
    """The forecasts over several values of one quantity."""

    over: str
    label: str
    points: tuple[Point, ...]

    def to_document(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {"over": self.over, "points": [point.to_document() for point in self.points]}


def tradeoff(setting: Setting, over: str, values: Sequence[float] | None = None) -> Tradeoff:
    """Vary `opt-in`, `epsilon`, `users` or `max-queries`; values that the collection would refuse are left out."""
    unknown = unknown_of(over, "over")

    def point(value: float) -> Point | None:
        try:
            changed = unknown.set(setting, value)
            return Point(value, forecast(changed, simulated(changed, usual_runs(changed, _QUERIES, 2, 8))))
        except BlenderError:
            if values is not None:
                raise
            return None

    with ThreadPoolExecutor(_THREADS) as pool:
        points = list(pool.map(point, unknown.values(setting) if values is None else values))
    return Tradeoff(unknown.name, unknown.label, tuple(one for one in points if one))
