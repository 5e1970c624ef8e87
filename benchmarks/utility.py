"""How far the estimates are from the truth on the made-up population with the shape of the papers' AOL table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.result import Cell, Result, Verdict
from blender_dp import Blender, Entropy, Truth, aol_like, score
from blender_dp.evaluation import Scores

SEEDS = 20
PUBLISHED_QUERY_L1 = 0.016  # read off Figure 13 of the paper


def measure() -> Result:
    blender = Blender(epsilon=4, delta="1e-5", max_queries=50)
    listed: list[int] = []
    scores: dict[str, list[Scores]] = {}
    for seed in range(SEEDS):
        population = aol_like(seed)
        release = blender.run_log(population, 0.05, key=f"key {seed}".encode(), entropy=Entropy.seeded(seed))
        listed.append(len(release.head_list))
        for estimates, one in score(release, Truth.of(population)).items():
            scores.setdefault(estimates, []).append(one)
    blended = statistics.mean(one.query_l1 for one in scores["blended"])
    return Result(
        "utility",
        "profile `paper` against the truth",
        f"519,371 users, 5 % opt-in, ε = 4, δ = 1e-5, M = 50; mean over {SEEDS} seeds ± its standard error; "
        f"{statistics.mean(listed):.2f} queries listed.",
        [_row(estimates, each) for estimates, each in scores.items()],
        [Verdict("blended query L1, to the published one", blended / PUBLISHED_QUERY_L1, 1, "at most")],
    )


def _row(estimates: str, each: Sequence[Scores]) -> dict[str, Cell]:
    return {
        "estimates of": estimates,
        "query L1": _mean([one.query_l1 for one in each]),
        "record L1": _mean([one.record_l1 for one in each]),
        "NDCG": _mean([one.ndcg for one in each]),
    }


def _mean(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):.4f} ± {statistics.stdev(values) / len(values) ** 0.5:.4f}"
