"""Trends over twelve rounds: the smoothed shares compared with those of single rounds, on unrelated shapes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, product
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

from benchmarks.race import CORES
from benchmarks.result import Cell, Result, Verdict
from blender_dp import Blender
from blender_dp.evaluation.drift import Round, collect_rounds, drift, head_of, mixed
from blender_dp.evaluation.population import Population
from blender_dp.logs.synthetic import Shape, aol_shape, yandex_shape
from blender_dp.release.population import sampling_variance
from blender_dp.release.series import Trends, trends_over
from tests.unit.planning.shapes import SHAPES as UNRELATED
from tests.unit.planning.shapes import outline, zipf

ROUNDS = 12
QUERIES = 2000  # of the population; no list is longer than 50
LOGS = {"aol": aol_shape(), "yandex": Shape(1_000_000, yandex_shape().query_shares)}
ITEMS = "single items"
OTHERS = {**UNRELATED, ITEMS: outline(ITEMS, zipf(5_000, 1.0), 1, 1.0)}
HELD_OUT = {
    "ten URLs": outline("ten URLs", zipf(5_000, 1.2), 10, 1.0),
    "five flat URLs": outline("five flat URLs", zipf(5_000, 0.9), 5, 0.0),
}
STEPS = (0.0, 0.01, 0.03, 0.3, 1.0)
USERS = (100_000, 500_000)
SEEDS = range(100, 120)  # the smoother's constants were chosen with other seeds
MORE_SEEDS, NEAR = range(120, 160), 0.3  # for cells whose coverage is this near to a limit, in per cent, or beyond it
VERY_SLOW_STEP = 0.01  # up to this step per round, practically all shares move slowly
SLOW_STEP, SLOW = 0.03, 1 / 3  # the largest step per round that counts as slow, and what part of a standard error it may be
ENOUGH = 200  # shares that move slowly: with fewer, a factor says little
MIXED, IN_ITS_ROUND, ALL = "mixed", ", that round", "all queries"
NEWS = {"one round, + 50 %": 1.5, "one round, × 2": 2.0, "one round, × 3": 3.0}
RANKS, NEWS_ROUND = (5, 15), 7  # the only queries that are in the news, by popularity, and when
PATTERN_SHAPES = ("aol", "yandex", "single items")
TARGETS = {"slow": 0.5, "factor": 1.02, "lowest": 93.0, "highest": 97.0}


class Key(NamedTuple):
    """What the series of one cell have in common."""

    shape: str
    users: int
    step: float
    reuse_lists: bool = False
    pattern: str = ""
    """How shares move, if not at random: `MIXED`, or one of `NEWS`."""
    part: str = ""
    """The queries, or queries and rounds, of such a cell that are counted."""


@dataclass(frozen=True)
class Compared:
    """The summed errors of some listed shares: published, smoothed, and expected of an ideal smoother."""

    shares: int
    single: float
    smoothed: float
    ideal: float
    """The expected factor of a smoother that knows the drift, if all errors were independent, without unlisted rounds."""


@dataclass(frozen=True)
class Errors:
    """Sums over all queries and rounds of one series of releases."""

    all: Compared
    slow: Compared
    single_covered: int
    covered: int
    unlisted: int
    unlisted_covered: int
    queries: int
    changes_covered: int
    false_discoveries: int
    """Pairs of successive rounds with a discovery, where nothing drifts."""


Sum = Callable[[Errors], float]


def measure() -> Result:
    keys = [Key(*one) for one in product((*LOGS, *OTHERS, *HELD_OUT), USERS, STEPS)]
    keys += [Key("aol", users, step, True) for users, step in product(USERS, STEPS)]
    keys += [Key(shape, users, 0.0, False, MIXED) for shape, users in product(PATTERN_SHAPES, USERS)]
    keys += [Key("aol", users, 0.0, False, pattern) for users, pattern in product(USERS, NEWS)]
    found = series_of(keys, SEEDS)
    near = [key for key, errors in found.items() if not key.pattern and _is_near(errors)]
    for key, more in series_of(near, MORE_SEEDS).items():
        found[key] += more
    return Result(
        "trends",
        "smoothed shares compared with those of a single round",
        f"{ROUNDS} rounds, each with new users, 5 % opt-in, ε = 4, M = 50, {len(SEEDS)} seeds, or "
        f"{len(SEEDS) + len(MORE_SEEDS)} where the coverage is near a limit. Every share's logarithm is a "
        "random walk with the given step per round. The factor is the smoothed shares' L1 error divided by that of the "
        f"published ones, over all listed queries and rounds; at slow drift (up to {SLOW_STEP:.0%}), also over those whose "
        "step is at most a third of their standard error; ± is its standard error over the seeds. Ideal: the expected "
        "factor of a smoother that knows the drift, if all errors were independent. Coverage: of the smoothed 95 % "
        "intervals, over all queries that were ever listed and all rounds. Mixed: half of the queries never "
        "change, the others have patterns. In the news: only the "
        f"{' and '.join(f'{rank}th' for rank in RANKS)} most popular query changes, in round {NEWS_ROUND}. "
        "The constants were chosen on other seeds, and without "
        f"{' and '.join(HELD_OUT)}.",
        [_row(key, errors) for key, errors in found.items()],
        list(_verdicts(found)),
    )


def series_of(keys: Sequence[Key], seeds: Sequence[int]) -> dict[Key, list[Errors]]:
    """Simulate and smooth a series for every key and seed."""
    jobs = list(product(keys, seeds))
    found: dict[Key, list[Errors]] = {}
    with ProcessPoolExecutor(CORES, mp_context=get_context("spawn")) as pool:
        for number, ((key, _), parts) in enumerate(zip(jobs, pool.map(_one, *zip(*jobs, strict=True)), strict=True), 1):
            if number % len(seeds) == 0:
                print(f"trends: {number} of {len(jobs)} series", file=sys.stderr)
            for part, errors in parts.items():
                found.setdefault(key._replace(part=part), []).append(errors)
    return found


def _population(shape: str, seed: int) -> Population:
    if shape in LOGS:
        return head_of(Population.of_shape(LOGS[shape], seed), QUERIES)
    chosen = (OTHERS | HELD_OUT)[shape]
    records = chosen.records(np.arange(chosen.query_shares.size), "")
    users, query_of, levels = 10_000_000, records.query_of, 1 if shape == ITEMS else 2
    counts = np.round(records.shares * users).astype(np.int64)

    def names(some: np.ndarray) -> list[tuple[str, str | None]]:
        return [(f"q{query_of[one]:05}", f"u{one:06}" if levels == 2 else None) for one in some.tolist()]

    return head_of(Population(users, query_of, counts, names, levels), QUERIES)


def _one(key: Key, seed: int) -> dict[str, Errors]:
    """The errors of each part of a cell."""
    population = _population(key.shape, seed)
    collection = Blender(epsilon=4, delta="1e-5", max_queries=50).collection
    factors, masks = _movement(key, population, seed)
    rounds = list(
        collect_rounds(collection, population, factors, users=key.users, opt_in=0.05, seed=seed, reuse_lists=key.reuse_lists)
    )
    trends = trends_over([one.release for one in rounds])
    return {part: errors for part, mask in masks.items() if (errors := _errors(rounds, trends, key, mask))}


Mask = Mapping[str, np.ndarray]
"""By query, which rounds are counted."""


def _movement(key: Key, population: Population, seed: int) -> tuple[list[np.ndarray], dict[str, Mask | None]]:
    """Every query's factor in every round, and the parts of the cell: None has everything."""
    queries = population.query_counts.size
    if not key.pattern:
        return drift(queries, ROUNDS, key.step, seed), {"": None}
    first = np.flatnonzero(np.diff(population.query_of, prepend=-1))
    names, everything = [query for query, _ in population.names(first)], np.ones(ROUNDS, bool)
    if key.pattern == MIXED:
        patterns, factors = mixed(queries, ROUNDS, seed)
        groups: dict[str, dict[str, np.ndarray]] = {}
        for query, pattern, series in zip(names, patterns, np.transpose(factors), strict=True):
            groups.setdefault(pattern, {})[query] = everything
            if pattern in NEWS:
                groups.setdefault(pattern + IN_ITS_ROUND, {})[query] = series > 1
        return factors, {ALL: None, **groups}
    order = np.argsort(-population.query_counts, kind="stable")
    chosen, now = [int(order[rank - 1]) for rank in RANKS], np.arange(ROUNDS) == NEWS_ROUND - 1
    moved = np.ones((ROUNDS, queries))
    moved[NEWS_ROUND - 1, chosen] = NEWS[key.pattern]
    parts = {f"{rank}th{IN_ITS_ROUND}": {names[one]: now} for rank, one in zip(RANKS, chosen, strict=True)}
    return list(moved), {ALL: None, **parts}


def _errors(rounds: Sequence[Round], trends: Trends, key: Key, counted: Mask | None) -> Errors | None:
    """The errors of what is counted; None if that is nothing."""
    step, nothing_changes = key.step, key.step == 0 and not key.pattern
    published = _published(rounds)
    ideals = {query: _ideal(*series.T, step) for query, series in published.items()} if counted is None else {}
    listed, unlisted, changes = [], [], []
    everything = np.ones(len(rounds), bool)
    for series in trends.series:
        mask = everything if counted is None else counted.get(series.query, ~everything)
        true = [one.shares[series.query] for one in rounds]
        if mask.all():
            changes.append(series.change_low <= true[-1] - true[0] <= series.change_high)
        expected = iter(ideals.get(series.query, np.full((len(rounds), 2), np.nan)))
        for truth, point, is_counted in zip(true, series.points, mask, strict=True):
            covered = point.smoothed_low <= truth <= point.smoothed_high
            if point.share is None or point.low is None or point.high is None:
                unlisted += [covered] * bool(is_counted)
            else:
                errors = abs(point.share - truth), abs(point.smoothed - truth), *next(expected)
                row = (*errors, step * truth, point.low <= truth <= point.high, covered)
                listed += [row] * bool(is_counted)
    if not listed and not unlisted:
        return None
    rows = np.array(listed).reshape(-1, 7)
    pairs = pairwise(rounds) if nothing_changes else ()
    return Errors(
        all=_compared(rows),
        slow=_compared(rows[rows[:, 4] <= SLOW * rows[:, 2]]),
        single_covered=int(rows[:, 5].sum()),
        covered=int(rows[:, 6].sum()),
        unlisted=len(unlisted),
        unlisted_covered=sum(unlisted),
        queries=len(changes),
        changes_covered=sum(changes),
        false_discoveries=sum(bool(old.release.compare(new.release).discoveries) for old, new in pairs),
    )


def _compared(rows: np.ndarray) -> Compared:
    single, smoothed, before, after = rows[:, :4].sum(axis=0).tolist()
    return Compared(len(rows), single, smoothed, after / before if before else np.nan)


def _published(rounds: Sequence[Round]) -> dict[str, np.ndarray]:
    """For every query, a row per round that lists it: the number of the round, the share and its variance."""
    rows: dict[str, list[tuple[int, float, float]]] = {}
    for number, one in enumerate(rounds):
        for row in one.release.queries:
            if row.query is not None:
                variance = row.variance + sampling_variance(row, one.release.manifest)
                rows.setdefault(row.query, []).append((number, max(row.share, 0.0), variance))
    return {query: np.array(series) for query, series in rows.items()}


def _ideal(when: np.ndarray, shares: np.ndarray, variances: np.ndarray, step: float) -> np.ndarray:
    """Standard errors before and after smoothing: normal errors, and a random walk of known step from an unknown share."""
    walk = (step * shares.mean()) ** 2 * np.minimum.outer(when - when[0], when - when[0]) + 1e3 * variances.max()
    left = np.diag(walk - walk @ np.linalg.solve(walk + np.diag(variances), walk))
    return np.sqrt(np.column_stack([variances, left.clip(min=0.0)]))


def _total(errors: Iterable[Errors], of: Sum) -> float:
    return float(sum(map(of, errors)))


def _ratio(errors: Sequence[Errors], above: Sum, below: Sum) -> tuple[float, float]:
    """The ratio of two sums over the seeds, and its standard error."""
    pairs = np.array([(above(one), below(one)) for one in errors])
    if len(pairs) < 2 or not pairs[:, 1].any():
        return np.nan, np.nan
    ratio = float(pairs[:, 0].sum() / pairs[:, 1].sum())
    residuals = pairs[:, 0] - ratio * pairs[:, 1]
    return ratio, float(np.sqrt(residuals.var(ddof=1) * len(errors)) / pairs[:, 1].sum())


def _factor(errors: Sequence[Errors]) -> tuple[float, float]:
    return _ratio(errors, lambda one: one.all.smoothed, lambda one: one.all.single)


def _slow(key: Key, errors: Sequence[Errors]) -> tuple[float, float] | None:
    """The factor of the shares that move slowly, and that of an ideal smoother; None at fast drift, or if they are few."""
    if key.pattern or key.step > SLOW_STEP or _total(errors, lambda one: one.slow.shares) < ENOUGH:
        return None
    factor, _ = _ratio(errors, lambda one: one.slow.smoothed, lambda one: one.slow.single)
    return factor, float(np.nanmean([one.slow.ideal for one in errors]))


def _coverage(errors: Sequence[Errors]) -> tuple[float, float]:
    """In per cent, over all queries that were ever listed and all rounds, also those that do not list them."""
    covered = _ratio(errors, lambda one: one.covered + one.unlisted_covered, lambda one: one.all.shares + one.unlisted)
    return 100 * covered[0], 100 * covered[1]


def _is_near(errors: Sequence[Errors]) -> bool:
    """Whether so few seeds cannot decide if a cell's coverage is within the limits."""
    return not TARGETS["lowest"] + NEAR < _coverage(errors)[0] < TARGETS["highest"] - NEAR


def _misses(key: Key, errors: Sequence[Errors]) -> str:
    """Which targets a cell misses."""
    slow, coverage = _slow(key, errors), _coverage(errors)[0]
    if key.part not in ("", ALL):
        return "–"
    missed = {
        "1/2": slow is not None and slow[0] > TARGETS["slow"],
        "1.02": _factor(errors)[0] > TARGETS["factor"],
        "coverage": not TARGETS["lowest"] <= coverage <= TARGETS["highest"],
    }
    return ", ".join(name for name, is_missed in missed.items() if is_missed) or "none"


def _row(key: Key, errors: Sequence[Errors]) -> dict[str, Cell]:
    listed, slow = _total(errors, lambda one: one.all.shares), _slow(key, errors)
    changes = _changes(errors)
    counted_rounds = 1 if key.part.endswith(IN_ITS_ROUND) else ROUNDS
    return {
        "shape": key.shape + (", lists reused" if key.reuse_lists else ""),
        "users": key.users,
        "step": f"{key.pattern}: {key.part}" if key.pattern else f"{key.step:.0%}",
        "listed": listed / len(errors) / counted_rounds,
        "factor": "{:.3f} ± {:.3f}".format(*_factor(errors)),
        "ideal": "–" if key.pattern else f"{np.mean([one.all.ideal for one in errors]):.2f}",
        "slow": "–" if slow is None else "{:.3f} ({:.2f})".format(*slow),
        "coverage %": "{:.1f} ± {:.1f}".format(*_coverage(errors)),
        "listed %": f"{100 * _total(errors, lambda one: one.covered) / max(listed, 1):.1f}",
        "one round %": f"{100 * _total(errors, lambda one: one.single_covered) / max(listed, 1):.1f}",
        "change %": "–" if np.isnan(changes) else f"{changes:.1f}",
        "misses": _misses(key, errors),
    }


def _verdicts(everything: dict[Key, list[Errors]]) -> Iterator[Verdict]:
    yield from _pattern_verdicts({key: errors for key, errors in everything.items() if key.pattern})
    found = {key: errors for key, errors in everything.items() if not key.pattern}
    slowest = [_factor(errors)[0] for key, errors in found.items() if key.step <= VERY_SLOW_STEP and key.shape in LOGS]
    claim = f"drift of at most {VERY_SLOW_STEP:.0%}, AOL and Yandex, all shares: largest factor of {len(slowest)} cells"
    yield Verdict(claim, max(slowest), TARGETS["slow"], "at most")
    slow = {key: both for key, errors in found.items() if (both := _slow(key, errors)) is not None}
    for name, kept in (
        ("AOL and Yandex", lambda key, _: key.shape in LOGS),
        ("the held-out shapes", lambda key, _: key.shape in HELD_OUT),
        ("all shapes where an ideal smoother reaches it", lambda _, ideal: ideal <= TARGETS["slow"]),
    ):
        factors = [factor for key, (factor, ideal) in slow.items() if kept(key, ideal)]
        claim = f"slow drift, {name}, shares that move slowly: largest factor of {len(factors)} cells"
        yield Verdict(claim, max(factors), TARGETS["slow"], "at most")
    factors = [_factor(errors)[0] for errors in found.values()]
    yield Verdict(f"largest factor of all {len(found)} cells", max(factors), TARGETS["factor"], "at most")
    for name, is_still in (("with", False), ("without", True)):
        coverages = [_coverage(errors)[0] for key, errors in found.items() if (key.step == 0) == is_still]
        cells = f"coverage of the {len(coverages)} cells {name} drift"
        yield Verdict(f"lowest {cells}", min(coverages), TARGETS["lowest"], "at least", " %")
        yield Verdict(f"highest {cells}", max(coverages), TARGETS["highest"], "at most", " %")
    still = [one for key, errors in found.items() if key.step == 0 for one in errors]
    false = 100 * _total(still, lambda one: one.false_discoveries) / len(still) / (ROUNDS - 1)
    yield Verdict("pairs with a false discovery if nothing changes", false, 5, "at most", " %")


def _pattern_verdicts(found: dict[Key, list[Errors]]) -> Iterator[Verdict]:
    together = {key: errors for key, errors in found.items() if key.part == ALL}
    cells = f"of the {len(together)} cells with patterns"
    largest = max(_factor(errors)[0] for errors in together.values())
    yield Verdict(f"largest factor {cells}", largest, TARGETS["factor"], "at most")
    coverages = [_coverage(errors)[0] for errors in together.values()]
    yield Verdict(f"lowest coverage {cells}", min(coverages), TARGETS["lowest"], "at least", " %")
    yield Verdict(f"highest coverage {cells}", max(coverages), TARGETS["highest"], "at most", " %")
    changes = [_changes(errors) for key, errors in together.items() if key.pattern == MIXED]
    yield Verdict("lowest coverage of changes, mixed patterns", min(changes), TARGETS["lowest"], "at least", " %")


def _changes(errors: Sequence[Errors]) -> float:
    """The coverage of the intervals of changes in per cent; not a number if none is counted."""
    queries = _total(errors, lambda one: one.queries)
    return 100 * _total(errors, lambda one: one.changes_covered) / queries if queries else np.nan
