"""The error of releases: profile `tight` compared with `paper` and with each group alone, over the papers' grids.

Synthetic logs with the shapes of the papers' two logs; both profiles use the same populations and groups in every cell.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from multiprocessing import get_context

import pyarrow as pa

from benchmarks.plots import Point, save_errors
from benchmarks.race import CORES
from benchmarks.result import Cell, Result, Verdict
from benchmarks.sweep import Outcome, Population, run
from blender_dp import Blender, Entropy, aol_like, yandex_like
from blender_dp.parameters import PARTS, PROFILES

CHANCE = 4.0  # standard errors that a mean may be off by chance
PUBLISHED_NDCG = (0.974, 0.980, 0.984, 0.987, 0.990)  # Figure 12: head list 10, ε = 1 to 5
WANTED_NDCG = (0.985, 0.995, 0.997, 0.997, 0.997)


@dataclass(frozen=True)
class Shape:
    """One of the papers' logs with their defaults for it, and the grid to measure on it."""

    name: str
    make: Callable[[int], pa.Table]
    delta: str
    opt_in: float
    max_queries: int
    opt_ins: tuple[float, ...]
    seeds: int


SHAPES = (
    Shape("AOL", aol_like, "1e-5", 0.05, 50, (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1), 120),
    Shape("Yandex", yandex_like, "1e-7", 0.03, 500, (0.001, 0.01, 0.03, 0.1), 20),
)
SIZES = (10, 25, 50, 100, 500)
EPSILONS = (1, 2, 3, 4, 5, 6)


@dataclass(frozen=True, order=True)
class Setting:
    """One cell of the grid, and the parts of the stages there."""

    shape: str
    epsilon: int
    opt_in: float
    max_queries: int
    discovery: str
    randomiser: str
    estimator: str

    @property
    def cell(self) -> tuple[str, int, float, int]:
        return self.shape, self.epsilon, self.opt_in, self.max_queries

    @property
    def parts(self) -> tuple[str, str, str]:
        return self.discovery, self.randomiser, self.estimator


PAPER, TIGHT = (tuple(PROFILES[name].values()) for name in ("paper", "tight"))
Outcomes = dict[Setting, list[Outcome]]
Measure = Callable[[Outcome], float]


def measure() -> Result:
    """Run the whole grid; the plots go to docs/figures."""
    outcomes = _all()
    _plot(outcomes)
    defaults = [(shape.name, 4, shape.opt_in, shape.max_queries) for shape in SHAPES]
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
    cells = {(epsilon, shape.opt_in, size) for epsilon, size in product(EPSILONS, SIZES)}
    cells |= {(4, opt_in, size) for opt_in, size in product(shape.opt_ins, SIZES)}
    for epsilon, opt_in, size in sorted(cells, key=lambda cell: (cell[1], cell)):
        default = (epsilon, opt_in, size) == (4, shape.opt_in, shape.max_queries)
        for parts in product(*PARTS.values()) if default else (PAPER, TIGHT):
            yield Setting(shape.name, epsilon, opt_in, size, *parts)


def _all() -> Outcomes:
    outcomes: Outcomes = {}
    jobs = [(number, seed) for number in range(len(SHAPES)) for seed in range(SHAPES[number].seeds)]
    with ProcessPoolExecutor(CORES, mp_context=get_context("spawn")) as pool:
        for done, (job, found) in enumerate(zip(jobs, pool.map(_one, *zip(*jobs, strict=True)), strict=True), 1):
            print(f"utility: {SHAPES[job[0]].name}, seed {job[1]} ({done} of {len(jobs)})", file=sys.stderr)
            for setting, outcome in found:
                outcomes.setdefault(setting, []).append(outcome)
    return outcomes


def _one(number: int, seed: int) -> list[tuple[Setting, Outcome]]:
    """All settings on one population."""
    shape = SHAPES[number]
    population = Population(shape.make(seed))
    found, groups, share = [], None, None
    for setting in settings(shape):
        if setting.opt_in != share:
            groups, share = population.groups(setting.opt_in, 0.95, seed), setting.opt_in
        blender = Blender(
            epsilon=setting.epsilon, delta=shape.delta, max_queries=setting.max_queries,
            discovery=setting.discovery, randomiser=setting.randomiser, estimator=setting.estimator,
        )  # fmt: skip
        found.append((setting, run(blender, groups, Entropy.seeded(f"{seed} {setting}"))[1]))
    return found


def query_l1(group: str) -> Measure:
    return lambda outcome: outcome.scores[group].query_l1


def record_l1(group: str) -> Measure:
    return lambda outcome: outcome.scores[group].record_l1


def ndcg(group: str) -> Measure:
    """1 - NDCG, so that less is better, as with the errors."""
    return lambda outcome: 1 - outcome.scores[group].ndcg


MEASURES = {"query L1": query_l1, "record L1": record_l1, "NDCG": ndcg}


def _mean(outcomes: Outcomes, cell: tuple[str, int, float, int], parts: tuple[str, ...], measured: Measure) -> float:
    return statistics.mean(measured(outcome) for outcome in outcomes[Setting(*cell, *parts)])


def _headlines(outcomes: Outcomes) -> Iterator[Verdict]:
    """The gains at the papers' defaults and at small ε."""

    def gain(cell: tuple[str, int, float, int], kind: Callable[[str], Measure]) -> float:
        return _mean(outcomes, cell, PAPER, kind("blended")) / _mean(outcomes, cell, TIGHT, kind("blended"))

    aol, yandex = ("AOL", 4, 0.05, 50), ("Yandex", 4, 0.03, 500)
    yield Verdict("AOL ε 4, query L1 of paper to tight", gain(aol, query_l1), 1.8, "at least")
    yield Verdict("AOL ε 4, record L1 of paper to tight", gain(aol, record_l1), 3.5, "at least")
    yield Verdict("AOL ε 4, NDCG", 1 - _mean(outcomes, aol, TIGHT, ndcg("blended")), 0.993, "at least", "")
    yield Verdict("Yandex ε 4, query L1 of paper to tight", gain(yandex, query_l1), 2.5, "at least")
    yield Verdict("Yandex ε 4, record L1 of paper to tight", gain(yandex, record_l1), 4, "at least")
    yield Verdict("Yandex ε 4, 1 - NDCG of paper to tight", gain(yandex, ndcg), 1, "at least")
    for epsilon in (1, 2):
        cell = ("AOL", epsilon, 0.05, 50)
        yield Verdict(f"AOL ε {epsilon}, query L1 of paper to tight", gain(cell, query_l1), 2, "at least")
        yield Verdict(f"AOL ε {epsilon}, record L1 of paper to tight", gain(cell, record_l1), 5.5, "at least")
    for epsilon, wanted, published in zip(range(1, 6), WANTED_NDCG, PUBLISHED_NDCG, strict=True):
        reached = 1 - _mean(outcomes, ("AOL", epsilon, 0.05, 10), TIGHT, ndcg("blended"))
        yield Verdict(f"AOL ε {epsilon}, M 10, NDCG (published: {published})", reached, wanted, "at least", "")


def _everywhere(outcomes: Outcomes) -> Iterator[Verdict]:
    """How many cells of the grid are worse than `paper`, or than the better group alone, by more than chance."""
    cells = sorted({setting.cell for setting in outcomes})
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
    return -float(outcome.listed)


def _quality(outcomes: Outcomes, defaults: Sequence[tuple[str, int, float, int]]) -> Iterator[Verdict]:
    """Efficiency against the Cramér-Rao bound, and whether intervals cover what they claim, at the defaults."""
    for cell in defaults:
        here = outcomes[Setting(*cell, *TIGHT)]
        error = statistics.mean(o.squared_error for o in here)
        bound, stated = (statistics.mean(getattr(o, name) for o in here) / error for name in ("bound", "stated"))
        yield Verdict(f"{cell[0]}, efficiency: Cramér-Rao bound (normal model) to squared error", bound, 0.85, "at least")
        yield Verdict(f"{cell[0]}, stated variance to squared error", stated, 0.85, "at least")
        for level in ("queries", "records"):
            covered = statistics.mean(getattr(o, f"covered_{level}") for o in here)
            yield Verdict(f"{cell[0]}, coverage of the {level}' intervals", covered, 0.93, "at least", "")
            yield Verdict(f"{cell[0]}, coverage of the {level}' intervals", covered, 0.97, "at most", "")


def _pairs(
    outcomes: Outcomes, cell: tuple[str, int, float, int],
    parts: tuple[str, ...], measured: Measure, other_parts: tuple[str, ...], other: Measure,
) -> list[float]:  # fmt: skip
    here, there = outcomes[Setting(*cell, *parts)], outcomes[Setting(*cell, *other_parts)]
    return [measured(a) - other(b) for a, b in zip(here, there, strict=True)]


def _excess(differences: Sequence[float]) -> float:
    """The mean difference in standard errors."""
    error = statistics.stdev(differences) / len(differences) ** 0.5
    mean = statistics.mean(differences)
    return mean / error if error else math.copysign(math.inf, mean) if mean else 0.0


def _names(cells: Sequence[tuple[str, int, float, int]]) -> str:
    return " (" + "; ".join(f"{s} ε {e}, {o:.2%}, M {m}" for s, e, o, m in cells) + ")" if cells else ""


def _ablation(outcomes: Outcomes, cell: tuple[str, int, float, int]) -> Iterator[dict[str, Cell]]:
    """Every combination of the parts at one cell, and each group alone in the two profiles."""
    for parts in product(*PARTS.values()):
        here = outcomes[Setting(*cell, *parts)]
        profile = {PAPER: "paper", TIGHT: "tight"}.get(parts, "")
        groups = ("opt-in", "client", "blended") if profile else ("blended",)
        for group in groups:
            yield {
                "shape": cell[0],
                "discovery": parts[0],
                "randomiser": parts[1],
                "estimator": parts[2],
                "profile": profile,
                "group": "both" if group == "blended" else group,
                "listed": f"{statistics.mean(o.listed for o in here):.1f}",
                "query L1": _shown([query_l1(group)(o) for o in here]),
                "record L1": _shown([record_l1(group)(o) for o in here]),
                "NDCG": _shown([1 - ndcg(group)(o) for o in here]),
            }


def _shown(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):.4f} ± {statistics.stdev(values) / len(values) ** 0.5:.4f}"


def _plot(outcomes: Outcomes) -> None:
    """One picture per shape and grid: the three measures against ε, and against the share of opt-in users."""
    for shape in SHAPES:
        for axis, number in (("ε", 1), ("share of opt-in users", 2)):
            kept = {
                s: found
                for s, found in outcomes.items()
                if s.shape == shape.name
                and s.parts in (PAPER, TIGHT)
                and (s.opt_in == shape.opt_in if number == 1 else s.epsilon == 4)
            }
            points = [point for s, found in kept.items() for point in _points(s, found, s.cell[number])]
            save_errors(points, axis, f"{shape.name.lower()}-{'epsilon' if number == 1 else 'opt-in'}")


def _points(setting: Setting, found: Sequence[Outcome], x: float) -> Iterator[Point]:
    series = {"paper": ["blended"], "tight": ["blended", "opt-in", "client"]}
    profile = "paper" if setting.parts == PAPER else "tight"
    for group, (name, kind) in product(series[profile], MEASURES.items()):
        values = [kind(group)(o) for o in found]
        if name == "NDCG":
            values = [1 - value for value in values]
        label = profile if group == "blended" else f"{profile}, {group} alone"
        error = statistics.stdev(values) / len(values) ** 0.5
        yield Point(name, setting.max_queries, label, x, statistics.mean(values), error)
