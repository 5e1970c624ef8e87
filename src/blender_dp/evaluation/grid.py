"""A grid of experiments: populations × opt-in shares × any parameters of a collection × seeds."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from blender_dp.errors import DocumentError, ParameterError
from blender_dp.evaluation.sources import PopulationSource
from blender_dp.logs import Reading
from blender_dp.parameters import PROFILES, Parameters
from blender_dp.parameters.grid_axes import AXES
from blender_dp_device.records.checks import at_least_one, open_unit

_OWN = ("source", "users", "opt_in", "seeds")
_READING = tuple(field.name for field in fields(Reading))
_MOST_USERS, _MOST_CELLS = 10**8, 10**6


@dataclass(frozen=True)
class Setting:
    """One cell of a grid: a collection, and the users that it is run on."""

    source: PopulationSource
    opt_in: Fraction
    parameters: Parameters

    @property
    def name(self) -> str:
        """A text that determines the setting."""
        return f"{self.source} {self.opt_in} {self.parameters.described()}"

    @property
    def profile(self) -> str:
        """The profile whose parts are used, or `mixed`."""
        parts = {kind: getattr(self.parameters, kind) for kind in PROFILES["tight"]}
        return next((name for name, of_profile in PROFILES.items() if of_profile == parts), "mixed")


@dataclass(frozen=True)
class Grid:
    """All combinations of the values of every axis, each with so many seeds."""

    settings: tuple[Setting, ...]
    seeds: int

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Grid:
        """Check every value and every combination. Axes are lists, or single values; all but ε and δ have defaults.

        `source` is one or more shapes, releases or logs (by default `aol`), `users` their number of users, `opt_in` one or
        more shares (0.05), `seeds` the number of repetitions (5), and every other name a parameter of a collection, or one
        of the fields of `Reading`, which say how to read the logs.
        """
        if unknown := sorted(set(values) - {*_OWN, *_READING, *AXES}):
            raise ParameterError(
                unknown[0], "is not an axis of a grid", f"Use some of: {', '.join((*_OWN, *_READING, *AXES))}"
            )
        for name in ("epsilon", "delta"):
            if name not in values:
                raise ParameterError(
                    name, "has no value", f"Pass one or more, such as {'1,2,4' if name == 'epsilon' else '1e-5'}"
                )
        seeds = at_least_one(values.get("seeds", 5), "seeds")
        axes = {name: _listed(values[name]) for name in AXES if name in values}
        names, opt_in = _listed(values.get("source", "aol")), _listed(values.get("opt_in", "0.05"))
        _check_size({"source": names, "opt_in": opt_in, **axes}, seeds)
        users, reading = _users(values.get("users")), _reading(values)
        sources = [PopulationSource(_text(name), users, reading) for name in names]
        fix = "Pass shares of the users who opt in, such as 0.05"
        shares = [open_unit(share, "opt_in", fix) for share in opt_in]
        parameters = [Parameters(**dict(zip(axes, chosen, strict=True))) for chosen in product(*axes.values())]
        settings = (Setting(*chosen) for chosen in product(sources, shares, parameters))
        return cls(tuple(dict.fromkeys(settings)), seeds)


def read_grid(path: Path) -> dict[str, Any]:
    """The values in a TOML file, for `Grid.of`; decimal numbers stay text, so that they are read exactly."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str)
    except OSError as error:
        raise DocumentError(str(path), f"cannot be read ({error.strerror})", "Check the path") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DocumentError(str(path), f"is not TOML ({error})", "Write lines such as: epsilon = [1, 2, 4]") from None


def _listed(value: Any) -> Sequence[Any]:  # noqa: ANN401 (checked one by one)
    return value if isinstance(value, list | tuple) else (value,)


def _users(value: Any) -> int | None:  # noqa: ANN401 (checked here)
    if value is not None and at_least_one(value, "users") > _MOST_USERS:
        raise ParameterError(
            "users", f"{value} are too many to draw one by one", f"Use at most {_MOST_USERS:,}, or 'blender-dp plan'"
        )
    return None if value is None else at_least_one(value, "users")


def _reading(values: Mapping[str, Any]) -> Reading:
    given = {name: values[name] for name in _READING if values.get(name) is not None}
    for name, value in given.items():
        if not isinstance(value, bool if name == "no_url" else str):
            raise ParameterError(name, f"{value!r} is invalid", 'Use a text, such as user = "AnonID", or no_url = true')
    return Reading(**given)


def _check_size(axes: Mapping[str, Sequence[Any]], seeds: int) -> None:
    """Refuse a grid without a cell, and one that would take too long, before it fills the memory."""
    for name, values in axes.items():
        if not len(values):
            raise ParameterError(name, "has no value", "Pass one or more, or leave it out")
    cells = seeds * math.prod(len(values) for values in axes.values())
    if cells > _MOST_CELLS:
        raise ParameterError("grid", f"it has {cells:,} cells", f"Use fewer values or seeds: at most {_MOST_CELLS:,} cells")


def _text(value: object) -> str:
    if not isinstance(value, str | Path):
        problem = f"{value!r} is not the name of a shape or a file"
        raise ParameterError("source", problem, "Use aol, yandex, zipf:1.1 or a path")
    return str(value)


def by_population(settings: Iterable[Setting], seeds: int) -> Iterator[tuple[PopulationSource, int, list[Setting]]]:
    """The work in parts that share a population."""
    parts: dict[PopulationSource, list[Setting]] = {}
    for setting in settings:
        parts.setdefault(setting.source, []).append(setting)
    for seed in range(seeds):
        for source, here in parts.items():
            yield source, seed, here
