"""Trends over twelve rounds: the smoothed shares compared with those of single rounds, at several speeds of change."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, product
from multiprocessing import get_context

import numpy as np

from benchmarks.race import CORES
from benchmarks.result import Cell, Result, Verdict
from blender_dp import Blender
from blender_dp.evaluation.drift import Round, collect_rounds, drift, head_of
from blender_dp.evaluation.population import Population
from blender_dp.logs.synthetic import aol_shape
from blender_dp.release.series import Trends, trends_over

ROUNDS = 12
QUERIES = 2000  # of the population; no list is longer than 50
STEPS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
SLOW, FAST = 0.01, 0.3
USERS = (100_000, 519_371)
SEEDS = 4


@dataclass(frozen=True)
class Errors:
    """Sums over all queries and rounds of one series of releases."""

    listed: int
    single: float
    smoothed: float
    single_covered: int
    covered: int
    unlisted: int
    unlisted_covered: int
    queries: int
    changes_covered: int
    false_discoveries: int
    """Pairs of successive rounds with a discovery; all are false where nothing drifts."""


def measure() -> Result:
    jobs = list(product(USERS, STEPS, range(SEEDS)))
    found: dict[tuple[int, float], list[Errors]] = {}
    with ProcessPoolExecutor(CORES, mp_context=get_context("spawn")) as pool:
        for number, (job, errors) in enumerate(zip(jobs, pool.map(_one, *zip(*jobs, strict=True)), strict=True), 1):
            print(f"trends: {job[0]:,} users, {job[1]:.0%} per round ({number} of {len(jobs)})", file=sys.stderr)
            found.setdefault(job[:2], []).append(errors)
    return Result(
        "trends",
        "smoothed shares compared with those of a single round",
        f"{ROUNDS} rounds of a population shaped like AOL's, each with new users, 5 % opt-in, ε = 4, M = 50, {SEEDS} seeds. "
        "Every share's logarithm is a random walk with the given step per round. The factor is the smoothed shares' L1 "
        "error divided by that of the published ones, over all listed queries and rounds.",
        [_row(key, errors) for key, errors in found.items()],
        list(_verdicts(found)),
    )


def _one(users: int, step: float, seed: int) -> Errors:
    population = head_of(Population.of_shape(aol_shape(), seed), QUERIES)
    collection = Blender(epsilon=4, delta="1e-5", max_queries=50).collection
    factors = drift(population.query_counts.size, ROUNDS, step, seed)
    rounds = list(collect_rounds(collection, population, factors, users=users, opt_in=0.05, seed=seed))
    return _errors(rounds, trends_over([one.release for one in rounds]))


def _errors(rounds: Sequence[Round], trends: Trends) -> Errors:
    listed, unlisted, changes = [], [], []
    for series in trends.series:
        true = [one.shares[series.query] for one in rounds]
        changes.append(series.change_low <= true[-1] - true[0] <= series.change_high)
        for truth, point in zip(true, series.points, strict=True):
            covered = point.smoothed_low <= truth <= point.smoothed_high
            if point.share is None or point.low is None or point.high is None:
                unlisted.append(covered)
            else:
                errors = abs(point.share - truth), abs(point.smoothed - truth)
                listed.append((*errors, point.low <= truth <= point.high, covered))
    single, smoothed, single_covered, covered = np.array(listed, float).sum(axis=0).tolist()
    pairs = pairwise(rounds)
    false = sum(bool(old.release.compare(new.release).discoveries) for old, new in pairs)
    return Errors(
        len(listed), single, smoothed, int(single_covered), int(covered), len(unlisted), sum(unlisted),
        len(changes), sum(changes), false,
    )  # fmt: skip


def _total(errors: Sequence[Errors], name: str) -> float:
    return float(sum(getattr(one, name) for one in errors))


def _factor(errors: Sequence[Errors]) -> float:
    return _total(errors, "smoothed") / _total(errors, "single")


def _coverage(errors: Sequence[Errors]) -> float:
    """Over all queries that were ever listed and all rounds, also those that do not list them."""
    points = _total(errors, "listed") + _total(errors, "unlisted")
    return (_total(errors, "covered") + _total(errors, "unlisted_covered")) / points


def _row(key: tuple[int, float], errors: Sequence[Errors]) -> dict[str, Cell]:
    users, step = key
    listed = _total(errors, "listed")
    return {
        "users": users,
        "step per round": f"{step:.0%}",
        "listed": listed / len(errors) / ROUNDS,
        "L1 of a round": _total(errors, "single") / len(errors) / ROUNDS,
        "factor": _factor(errors),
        "coverage %": 100 * _coverage(errors),
        "where listed %": 100 * _total(errors, "covered") / listed,
        "of a round %": 100 * _total(errors, "single_covered") / listed,
        "of the change %": 100 * _total(errors, "changes_covered") / _total(errors, "queries"),
        "pairs with a discovery %": 100 * _total(errors, "false_discoveries") / len(errors) / (ROUNDS - 1),
    }


def _verdicts(found: dict[tuple[int, float], list[Errors]]) -> Iterator[Verdict]:
    slow = [errors for (_, step), errors in found.items() if step == SLOW]
    yield Verdict(f"largest factor at slow drift ({SLOW:.0%} per round)", max(map(_factor, slow)), 0.5, "at most")
    for claim, chosen in ((f"up to {FAST:.0%}", STEPS[:-1]), (f"at {STEPS[-1]:.0%}", STEPS[-1:])):
        factors = [_factor(errors) for (_, step), errors in found.items() if step in chosen]
        yield Verdict(f"largest factor {claim} per round", max(factors), 1.02, "at most")
    for number in USERS:
        realistic = [one for (users, step), errors in found.items() if users == number and step <= FAST for one in errors]
        coverage = 100 * _coverage(realistic)
        yield Verdict(f"coverage with {number:,} users up to {FAST:.0%} per round", coverage, 93, "at least", " %")
        yield Verdict(f"coverage with {number:,} users up to {FAST:.0%} per round", coverage, 97, "at most", " %")
    still = [one for (_, step), errors in found.items() if step == 0 for one in errors]
    false = 100 * _total(still, "false_discoveries") / len(still) / (ROUNDS - 1)
    yield Verdict("pairs with a false discovery if nothing changes", false, 5, "at most", " %")
