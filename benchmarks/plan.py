"""Plans: how long a question takes, and how close the answers are to brute-force simulation on unrelated shapes."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import product
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np

from benchmarks.result import Cell, Result, Verdict
from blender_dp.evaluation.experiment import Outcome
from blender_dp.parameters import Parameters
from blender_dp.planning import Setting
from blender_dp.planning.forecasts import forecast
from blender_dp.planning.simulation import simulated
from tests.unit.planning.shapes import SHAPES, USERS, brute_force

QUESTIONS = {
    "what would I get?": "aol --epsilon 4 --delta 1e-5",
    "the same for Yandex's shape, M 500": "yandex --epsilon 4 --delta 1e-7 --opt-in 0.03 --max-queries 500",
    "over the opt-in share": "aol --epsilon 4 --delta 1e-6 --over opt-in",
    "over ε": "aol --epsilon 4 --delta 1e-6 --over epsilon",
    "which opt-in share?": "aol --epsilon 4 --delta 1e-6 --want queries=100,ndcg=0.95 --solve opt-in",
    "which ε?": "aol --delta 1e-6 --want queries=100,ndcg=0.95,error=0.1 --solve epsilon",
    "how many users?": "aol --epsilon 4 --delta 1e-6 --want queries=100,ndcg=0.95,error=0.1 --solve users",
    "a million equally popular queries": "zipf:0 --epsilon 4 --delta 1e-9 --users 60000000",
    "how many users for 20 of them?": "zipf:0 --epsilon 4 --delta 1e-9 --users 60000000 --want queries=20 --solve users",
    "a billion users, M 10,000": "aol --epsilon 4 --delta 1e-11 --users 1000000000 --max-queries 10000",
}
RUNS, ROUNDS = 200, 3
MEASURES = ("query_l1", "record_l1", "ndcg")


def measure() -> Result:
    """Ask every question in a new process, and compare every shape in both profiles."""
    rows: list[dict[str, Cell]] = []
    seconds = {question: _seconds(arguments) for question, arguments in QUESTIONS.items()}
    rows += [
        {"what": question, "seconds": wall, "processor": used, **_empty()} for question, (wall, used) in seconds.items()
    ]
    worst = dict.fromkeys(("listed", *MEASURES), 0.0)
    for name, profile in product(SHAPES, ("tight", "paper")):
        ratios = _ratios(name, profile)
        worst = {key: max(value, abs(ratios[key] - 1)) for key, value in worst.items()}
        rows.append({"what": f"{name}, {profile}: plan / brute force", "seconds": "", "processor": "", **ratios})
    verdicts = [Verdict(f"a question ({question})", used, 2, "at most", " s") for question, (_, used) in seconds.items()]
    verdicts += [Verdict(f"largest deviation of {key}", 100 * value, 5, "at most", " %") for key, value in worst.items()]
    method = (
        f"New processes, best of {ROUNDS}; verdicts on processor time, so that busy neighbours do not count. "
        f"Ratios of means over {RUNS} collections each, of {USERS:,} users, 15 % opt-in, "
        "ε = 4, δ = 1e-5, M = 30; their standard errors are about 2 % for L1."
    )
    return Result("plan", "planning a collection", method, rows, verdicts)


def _empty() -> dict[str, Cell]:
    return dict.fromkeys(("listed", *MEASURES), "")


def _seconds(arguments: str) -> tuple[float, float]:
    """Elapsed time and processor time."""
    command = [sys.executable, "-c", "from blender_dp.cli import main; main()", "plan", *arguments.split()]
    times = []
    for _ in range(ROUNDS):
        start, before = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = getrusage(RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        times.append((time.perf_counter() - start, used))
    return min(wall for wall, _ in times), min(used for _, used in times)


def _ratios(name: str, profile: str) -> dict[str, float]:
    setting = Setting(SHAPES[name], USERS, 0.15, Parameters(epsilon=4, delta="1e-5", max_queries=30, profile=profile))
    outcomes = [brute_force(setting, seed) for seed in range(RUNS)]
    predicted = forecast(setting, simulated(setting, RUNS, "benchmark"))
    scores = {key: getattr(predicted, key).mean / _mean(outcomes, key) for key in MEASURES}
    return {"listed": predicted.queries.mean / float(np.mean([one.queries for one in outcomes])), **scores}


def _mean(outcomes: list[Outcome], measure: str) -> float:
    return float(np.mean([getattr(one.blended, measure) for one in outcomes]))
