"""Run the cells of a grid on one population, and turn them into rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import cache, lru_cache
from typing import Any

import pyarrow as pa

from blender_dp.evaluation.experiment import Outcome, collect
from blender_dp.evaluation.fast_reports import fast_reports
from blender_dp.evaluation.grid import Setting
from blender_dp.evaluation.groups import Groups, Split
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.sources import PopulationSource
from blender_dp.parameters import Parameters
from blender_dp.pipeline.collection import Collection
from blender_dp.sampling import Entropy

_TEXT, _NUMBER, _COUNT, _SWITCH = pa.string(), pa.float64(), pa.int64(), pa.bool_()

SETTING_COLUMNS = {
    "source": _TEXT, "users": _COUNT, "opt_in": _NUMBER, "epsilon": _NUMBER, "delta": _NUMBER, "max_queries": _COUNT,
    "profile": _TEXT, "discovery": _TEXT, "randomiser": _TEXT, "estimator": _TEXT,
    "f_o": _NUMBER, "f_c": _NUMBER, "subset_size": _COUNT, "project": _SWITCH, "robust": _SWITCH,
}  # fmt: skip
"""What was run. f_c and subset_size are null if the collection chose them."""

SCORES = ("query_l1", "record_l1", "ndcg")
"""What was measured for each group's estimates: errors and ranking."""

MEASURES = (
    *SCORES, "listed", "covered_queries", "covered_records", "squared_error", "stated_variance", "smallest_variance",
    "chosen_f_c", "chosen_size",
)  # fmt: skip
"""All measures: also the length of the list, the coverage of the 95 % intervals, the queries' squared errors together with
the sum of their stated and smallest possible variances, and the channel's design. These are the same for every group."""

ROWS = pa.schema(
    [*SETTING_COLUMNS.items(), ("seed", _COUNT), ("group", _TEXT), *((measure, _NUMBER) for measure in MEASURES)]
)
"""One row for every setting, seed and group: `opt-in`, `client` or `blended`."""


def run_cells(
    source: PopulationSource, seed: int, settings: Iterable[Setting]
) -> Iterator[tuple[Setting, list[dict[str, Any]]]]:
    """Run every setting once, on one population and one order of opting in."""
    population = _population(source, seed if source.varies else 0, source.fingerprint())
    split = Split(population, seed)
    groups: dict[tuple[Any, Any], Groups] = {}
    for setting in sorted(settings, key=lambda one: (-one.opt_in, one.parameters.f_o)):  # the largest draw serves all
        shares = setting.opt_in, setting.parameters.f_o
        if shares not in groups:
            groups = {shares: split.groups(float(setting.opt_in), float(setting.parameters.f_o))}
        # The same noise in every setting, as far as they draw the same: differences between settings are then clearer.
        entropy = Entropy.seeded(f"collection {seed}")
        outcome = collect(_collection(setting.parameters), groups[shares], entropy, fast_reports)
        yield setting, _rows(setting, seed, population.users, outcome)


@lru_cache(maxsize=1)
def _population(source: PopulationSource, seed: int, _fingerprint: str) -> Population:
    return source.population(seed)


@cache
def _collection(parameters: Parameters) -> Collection:
    """The exact integers of the mechanisms take longer to compute than a collection on counts."""
    return Collection(parameters)


def _rows(setting: Setting, seed: int, users: int, outcome: Outcome) -> list[dict[str, Any]]:
    p, design = setting.parameters, outcome.listing.design
    common: dict[str, Any] = {
        "source": setting.source.name, "users": users, "opt_in": float(setting.opt_in),
        "epsilon": float(p.epsilon), "delta": float(p.delta), "max_queries": p.max_queries,
        "profile": setting.profile, "discovery": p.discovery, "randomiser": p.randomiser, "estimator": p.estimator,
        "f_o": float(p.f_o), "f_c": None if p.f_c is None else float(p.f_c), "subset_size": p.subset_size,
        "project": p.project, "robust": p.robust, "seed": seed, "listed": float(outcome.queries),
        "covered_queries": outcome.covered_queries, "covered_records": outcome.covered_records,
        "squared_error": outcome.squared_error, "stated_variance": outcome.stated, "smallest_variance": outcome.bound,
        "chosen_f_c": float(design.f_c), "chosen_size": float(design.size),
    }  # fmt: skip
    return [
        {name: None if _is_nan(value) else value for name, value in {**common, "group": group, **asdict(s)}.items()}
        for group, s in outcome.scores.items()
    ]


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
