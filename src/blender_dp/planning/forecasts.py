"""What a planned collection will find: the list in closed form, the errors from a few simulated collections."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from blender_dp.planning.expected import Expected
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import Simulated
from blender_dp.planning.stated_errors import StatedErrors

_RANKS = (1, 10, 50, 100, 500, 1000, 5000)
_QUERIES = 800  # enough to average over
_WORK = 2e6  # queries whose users may be drawn in all collections
_FITTING, _RARE = 200.0, 6.0  # what a listed query costs, and one of a long tail, compared with drawing a query's users
_FEWEST = 2  # collections; those with long lists differ little from each other


@dataclass(frozen=True)
class Rank:
    """One query of the true ranking: its share, how probably it is listed, and its error."""

    rank: int
    share: float
    listed: float
    standard_error: Expected | None
    """The error that the release will state; None if the query was not listed in any simulated collection."""
    error: Expected | None
    """About how large the actual error is: the stated one, times the ratio of both for queries with similar ranks."""


@dataclass(frozen=True)
class Forecast:
    """The expected quality of one collection. L1 and NDCG are those of the papers (`evaluation.metrics`)."""

    queries: Expected
    """How many queries are listed."""
    query_l1: Expected
    record_l1: Expected
    ndcg: Expected
    calibration: float | None
    """The actual errors, in units of the stated standard errors; None if nothing is listed."""
    coverage: float | None
    """The share of the listed queries whose 95 % interval contains the truth; it should be 0.95."""
    ranks: tuple[Rank, ...]
    worst_error: float | None
    """The largest actual error of the queries that are probably listed, relative to their shares."""
    f_c: float
    """The share of a client's budget that goes to the query, as the collection would choose it."""
    subset_size: int
    runs: int
    """How many collections were simulated."""

    def to_document(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return asdict(self)


def forecast(setting: Setting, simulated: Simulated, top: int | None = None) -> Forecast:
    """Predict the list and its errors; `worst_error` is that of the `top` queries, by default of all that are listed."""
    length, design = setting.length, simulated.outcomes[-1].listing.design
    return Forecast(
        queries=Expected(length.mean, length.quantile(0.025), length.quantile(0.975)),
        query_l1=simulated.expected("query_l1"),
        record_l1=simulated.expected("record_l1"),
        ndcg=simulated.expected("ndcg"),
        calibration=_number(simulated.calibration()),
        coverage=_number(simulated.coverage()),
        ranks=_ranks(setting, simulated.standard_errors),
        worst_error=worst_error(setting, simulated, top),
        f_c=float(design.f_c),
        subset_size=design.size,
        runs=len(simulated.outcomes),
    )


def worst_error(setting: Setting, simulated: Simulated, top: int | None = None) -> float | None:
    """The largest actual error relative to the share, of the `top` queries or of all that are listed more often than not."""
    size = min(top or setting.parameters.max_queries, setting.head)
    errors = simulated.standard_errors.actual(size)
    relative = errors / setting.outline.query_shares[:size]
    relevant = relative[np.isfinite(relative) & ((setting.on_final_list[:size] >= 0.5) | (top is not None))]
    return float(relevant.max()) if relevant.size else None


def usual_runs(setting: Setting, queries: int = _QUERIES, few: int = 6, many: int = 16, fewest: int = _FEWEST) -> int:
    """How many collections to simulate until this many queries are listed in all of them together, if that is affordable."""
    affordable = max(_WORK / work(setting), fewest)
    return round(min(max(queries / max(setting.length.mean, 1.0), few), many, affordable))


def work(setting: Setting) -> float:
    """What it takes to simulate one collection, in queries whose users are drawn."""
    tail = setting.tail
    drawn = tail.first + _RARE * tail.expected if tail else setting.head
    return drawn + _FITTING * setting.length.mean


def _ranks(setting: Setting, stated: StatedErrors) -> tuple[Rank, ...]:
    most = 0 if setting.outline.is_empty else min(setting.parameters.max_queries, setting.head)
    return tuple(_rank(setting, stated, rank) for rank in _RANKS if rank <= most)


def _rank(setting: Setting, stated: StatedErrors, rank: int) -> Rank:
    share, listed = float(setting.outline.query_shares[rank - 1]), float(setting.on_final_list[rank - 1])
    return Rank(rank, share, listed, stated.expected(rank - 1), stated.actual_of(rank - 1))


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
