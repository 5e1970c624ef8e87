"""How the result changes with one quantity, everything else being equal."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from blender_dp.planning.forecasts import Forecast, forecast, usual_runs, work
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import simulated
from blender_dp.planning.unknowns import unknown_of

_QUERIES = 300  # listed in all simulated collections together; the same random numbers are used at every value
_WORK = 2e6  # of simulating every value once: more takes too long
_FEWEST = 2  # values
_THREADS = 2  # where most of the work is numpy's, so that another value can be computed beside it


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
    warnings: tuple[str, ...] = ()
    """What the plan cannot know at some of the values."""

    def to_document(self) -> dict[str, Any]:
        """Everything as JSON values."""
        points = [point.to_document() for point in self.points]
        return {"over": self.over, "points": points, "warnings": list(self.warnings)}


def tradeoff(setting: Setting, over: str, values: Sequence[float] | None = None) -> Tradeoff:
    """Vary `opt-in`, `epsilon`, `users` or `max-queries`; values that the collection would refuse are left out.

    By default the values are usual ones; fewer of them, if lists of thousands of queries take too long to simulate.
    """
    unknown = unknown_of(over, "over")
    settings = {value: unknown.set(setting, value) for value in (unknown.values(setting) if values is None else values)}
    if values is None:
        settings = {value: changed for value, changed in settings.items() if changed.is_valid}
        if not settings:
            setting.check()  # says why the planned value, which is one of them, is refused
        settings = _affordable(settings, unknown.get(setting))

    def point(value: float) -> Point:
        changed = settings[value]
        return Point(value, forecast(changed, simulated(changed, usual_runs(changed, _QUERIES, 2, 8))))

    # The estimator `average` ranks every query that discovery lists, so that it needs all of their users.
    draws_most = setting.parameters.estimator == "average" and any(changed.tail for changed in settings.values())
    with ThreadPoolExecutor(_THREADS if draws_most else 1) as pool:
        points = tuple(pool.map(point, settings))
    warnings = dict.fromkeys(text for changed in settings.values() for text in changed.warnings)
    return Tradeoff(unknown.name, unknown.label, points, tuple(warnings))


def _affordable(settings: dict[float, Setting], planned: float) -> dict[float, Setting]:
    """As many of the settings as can be simulated in time, evenly spaced, with the last one and the planned one."""
    most = int(_WORK * len(settings) / sum(map(work, settings.values())))
    values, several = list(settings), max(min(most, len(settings)), min(_FEWEST, len(settings)))
    chosen = len(values) * (np.arange(several) + 1) // several - 1
    if planned in settings:  # instead of the closest other one, but not of the last
        place = values.index(planned)
        chosen[np.abs(chosen[:-1] - place).argmin() if place < chosen[-1] else -1] = place
    return {values[one]: settings[values[one]] for one in sorted(chosen.tolist())}
