"""The error of releases: profile `tight` compared with `paper` and with each group alone, over the papers' grids.

Synthetic logs with the shapes of the papers' two logs; both profiles use the same populations and groups in every cell.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from benchmarks.race import CORES
from benchmarks.result import Cell, Result, Verdict
from blender_dp.evaluation.grid import Grid, Setting
from blender_dp.evaluation.runs import run_settings
from blender_dp.parameters import PARTS, PROFILES

CHANCE = 4.0  # standard errors that a mean may be off by chance
PUBLISHED_NDCG = (0.974, 0.980, 0.984, 0.987, 0.990)  # Figure 12: head list 10, ε = 1 to 5
WANTED_NDCG = (0.985, 0.995, 0.997, 0.997, 0.997)


@dataclass(frozen=True)
class Shape:
    """One of the papers' logs with their defaults for it, and the grid to measure on it."""

    name: str
    delta: str
    opt_in: float
    max_queries: int
    opt_ins: tuple[float, ...]
    seeds: int


SHAPES = (
    Shape("aol", "1e-5", 0.05, 50, (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1), 120),
    Shape("yandex", "1e-7", 0.03, 500, (0.001, 0.01, 0.03, 0.1), 20),
)
SIZES = (10, 25, 50, 100, 500)
EPSILONS = (1, 2, 3, 4, 5, 6)

PAPER, TIGHT = (tuple(PROFILES[name].values()) for name in ("paper", "tight"))
CellName = tuple[str, float, float, int]
Outcome = dict[str, dict[str, Any]]
"""The row of each group: `opt-in`, `client`, `blended`."""
Outcomes = dict[tuple[CellName, tuple[str, ...]], list[Outcome]]
Measure = Callable[[Outcome], float]


def measure() -> Result:
    """Run the whole grid."""
    outcomes = _all()
    defaults = [(shape.name, 4.0, shape.opt_in, shape.max_queries) for shape in SHAPES]
    return Result(
        "utility",
        "profile `tight` against `paper`, each group alone, and each of its parts",
        f"The papers' defaults: ε = 4, 5 % opt-in, M = 50 (AOL shape, 519,371 users) and 3 %, M = 500 (Yandex shape, "
        f"4,970,073 users). Means over {SHAPES[0].seeds} and {SHAPES[1].seeds} seeds ± standard errors. In `paper` and "
        "`tight` rows, opt-in and client are that profile's own estimates from one group. Coverage is that of the 95 % "
        "intervals.",
        [row for cell in defaults for row in _ablation(outcomes, cell)],
        [*_headlines(outcomes), *_everywhere(outcomes), *_quality(outcomes, defaults)],
    )


def settings(shape: Shape) -> Iterator[Setting]:
    """Both profiles on the grid, and all combinations of their parts at the defaults."""
    common = {"source": shape.name, "delta": shape.delta, "profile": ["paper", "tight"]}
    yield from Grid.of({**common, "epsilon": EPSILONS, "opt_in": shape.opt_in, "max_queries": SIZES}).settings
    yield from Grid.of({**common, "epsilon": 4, "opt_in": shape.opt_ins, "max_queries": SIZES}).settings
    parts = {kind: list(names) for kind, names in PARTS.items()}
    defaults = {"source": shape.name, "delta": shape.delta, "epsilon": 4, "opt_in": shape.opt_in}
    yield from Grid.of({**defaults, "max_queries": shape.max_queries, **parts}).settings


def _all() -> Outcomes:
    found: dict[tuple[CellName, tuple[str, ...]], dict[int, Outcome]] = {}
    for shape in SHAPES:

        def report(done: int, total: int, name: str = shape.name) -> None:
            if done % 100 == 0:
                print(f"utility: {name}, {done} of {total} cells", file=sys.stderr)

        for row in run_settings(settings(shape), shape.seeds, workers=CORES, progress=report).to_pylist():
            cell = row["source"], row["epsilon"], row["opt_in"], row["max_queries"]
            seeds = found.setdefault((cell, tuple(row[kind] for kind in PARTS)), {})
            seeds.setdefault(row["seed"], {})[row["group"]] = row
    return {name: [seeds[seed] for seed in sorted(seeds)] for name, seeds in found.items()}


def query_l1(group: str) -> Measure:
    return lambda outcome: outcome[group]["query_l1"]


def record_l1(group: str) -> Measure:
    return lambda outcome: outcome[group]["record_l1"]


def ndcg(group: str) -> Measure:
    """1 - NDCG, so that less is better, as with the errors."""
    return lambda outcome: 1 - outcome[group]["ndcg"]


MEASURES = {"query L1": query_l1, "record L1": record_l1, "NDCG": ndcg}


def _mean(outcomes: Outcomes, cell: CellName, parts: tuple[str, ...], measured: Measure) -> float:
    return statistics.mean(measured(outcome) for outcome in outcomes[cell, parts])


def _headlines(outcomes: Outcomes) -> Iterator[Verdict]:
    """The gains at the papers' defaults and at small ε."""

    def gain(cell: CellName, kind: Callable[[str], Measure]) -> float:
        return _mean(outcomes, cell, PAPER, kind("blended")) / _mean(outcomes, cell, TIGHT, kind("blended"))

    aol, yandex = ("aol", 4.0, 0.05, 50), ("yandex", 4.0, 0.03, 500)
    yield Verdict("AOL ε 4, query L1 of paper to tight", gain(aol, query_l1), 1.8, "at least")
    yield Verdict("AOL ε 4, record L1 of paper to tight", gain(aol, record_l1), 3.5, "at least")
    yield Verdict("AOL ε 4, NDCG", 1 - _mean(outcomes, aol, TIGHT, ndcg("blended")), 0.993, "at least", "")
    yield Verdict("Yandex ε 4, query L1 of paper to tight", gain(yandex, query_l1), 2.5, "at least")
    yield Verdict("Yandex ε 4, record L1 of paper to tight", gain(yandex, record_l1), 4, "at least")
    yield Verdict("Yandex ε 4, 1 - NDCG of paper to tight", gain(yandex, ndcg), 1, "at least")
    for epsilon in (1, 2):
        cell = ("aol", float(epsilon), 0.05, 50)
        yield Verdict(f"AOL ε {epsilon}, query L1 of paper to tight", gain(cell, query_l1), 2, "at least")
        yield Verdict(f"AOL ε {epsilon}, record L1 of paper to tight", gain(cell, record_l1), 5.5, "at least")
    for epsilon, wanted, published in zip(range(1, 6), WANTED_NDCG, PUBLISHED_NDCG, strict=True):
        reached = 1 - _mean(outcomes, ("aol", float(epsilon), 0.05, 10), TIGHT, ndcg("blended"))
        yield Verdict(f"AOL ε {epsilon}, M 10, NDCG (published: {published})", reached, wanted, "at least", "")


def _everywhere(outcomes: Outcomes) -> Iterator[Verdict]:
    """How many cells of the grid are worse than `paper`, or than the better group alone, by more than chance."""
    cells = sorted({cell for cell, _ in outcomes})
    for name, kind in MEASURES.items():
        worse = [c for c in cells if _excess(_pairs(outcomes, c, TIGHT, kind("blended"), PAPER, kind("blended"))) > CHANCE]
        yield Verdict(
            f"cells of {len(cells)} where {name} is worse than paper's{_names(worse)}", len(worse), 0, "at most", ""
        )
        alone = []
        for cell in cells:
            better = min(("opt-in", "client"), key=lambda group: _mean(outcomes, cell, TIGHT, kind(group)))
            if _excess(_pairs(outcomes, cell, TIGHT, kind("blended"), TIGHT, kind(better))) > CHANCE:
                alone.append(cell)
        claim = f"cells of {len(cells)} where {name} is worse than the better group alone{_names(alone)}"
        yield Verdict(claim, len(alone), 0, "at most", "")
    fewer = [c for c in cells if _excess(_pairs(outcomes, c, TIGHT, _unlisted, PAPER, _unlisted)) > CHANCE]
    yield Verdict(f"cells of {len(cells)} with fewer queries listed{_names(fewer)}", len(fewer), 0, "at most", "")


def _unlisted(outcome: Outcome) -> float:
    return -float(outcome["blended"]["listed"])


def _quality(outcomes: Outcomes, defaults: Sequence[CellName]) -> Iterator[Verdict]:
    """Efficiency against the Cramér-Rao bound, and whether intervals cover what they claim, at the defaults."""
    for cell in defaults:
        here = outcomes[cell, TIGHT]
        error = statistics.mean(o["blended"]["squared_error"] for o in here)
        bound, stated = (
            statistics.mean(o["blended"][name] for o in here) / error for name in ("smallest_variance", "stated_variance")
        )
        yield Verdict(f"{cell[0]}, efficiency: Cramér-Rao bound (normal model) to squared error", bound, 0.85, "at least")
        yield Verdict(f"{cell[0]}, stated variance to squared error", stated, 0.85, "at least")
        for level in ("queries", "records"):
            covered = statistics.mean(o["blended"][f"covered_{level}"] for o in here)
            yield Verdict(f"{cell[0]}, coverage of the {level}' intervals", covered, 0.93, "at least", "")
            yield Verdict(f"{cell[0]}, coverage of the {level}' intervals", covered, 0.97, "at most", "")


def _pairs(
    outcomes: Outcomes, cell: CellName,
    parts: tuple[str, ...], measured: Measure, other_parts: tuple[str, ...], other: Measure,
) -> list[float]:  # fmt: skip
    here, there = outcomes[cell, parts], outcomes[cell, other_parts]
    return [measured(a) - other(b) for a, b in zip(here, there, strict=True)]


def _excess(differences: Sequence[float]) -> float:
    """The mean difference in standard errors."""
    error = statistics.stdev(differences) / len(differences) ** 0.5
    mean = statistics.mean(differences)
    return mean / error if error else math.copysign(math.inf, mean) if mean else 0.0


def _names(cells: Sequence[CellName]) -> str:
    return " (" + "; ".join(f"{s} ε {e:g}, {o:.2%}, M {m}" for s, e, o, m in cells) + ")" if cells else ""


def _ablation(outcomes: Outcomes, cell: CellName) -> Iterator[dict[str, Cell]]:
    """Every combination of the parts at one cell, and each group alone in the two profiles."""
    for parts in product(*PARTS.values()):
        here = outcomes[cell, parts]
        profile = {PAPER: "paper", TIGHT: "tight"}.get(parts, "")
        groups = ("opt-in", "client", "blended") if profile else ("blended",)
        listed = statistics.mean(o["blended"]["listed"] for o in here)
        for group in groups:
            yield {
                "shape": cell[0],
                "discovery": parts[0],
                "randomiser": parts[1],
                "estimator": parts[2],
                "profile": profile,
                "group": "both" if group == "blended" else group,
                "listed": f"{listed:.1f}",
                "query L1": _shown([query_l1(group)(o) for o in here]),
                "record L1": _shown([record_l1(group)(o) for o in here]),
                "NDCG": _shown([1 - ndcg(group)(o) for o in here]),
            }


def _shown(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):.4f} ± {statistics.stdev(values) / len(values) ** 0.5:.4f}"
