"""Results that were not measured, to test what is made of them."""

from __future__ import annotations

from blender_dp.evaluation.reproduction.curves import RIVALS
from blender_dp.evaluation.reproduction.figure import Figure
from blender_dp.evaluation.reproduction.results import Results


def made_up(figure: Figure, *, useless: bool = False, seeds: int = 2) -> Results:
    """Results that are as good as the papers say, or useless: errors that grow, and no list."""
    rows = []
    for setting in figure.settings:
        p = setting.parameters
        scale = float(p.epsilon) * (1 + (float(p.f_c) if p.f_c else 0.85))
        split = -abs((float(p.f_c) if p.f_c else 0.85) - 0.85)
        for group, factor in (("blended", 1.0), ("client", 1.1), ("opt-in", 1.2)):
            l1 = scale * (4 - factor) if useless else 0.004 * factor / scale
            ndcg = 0.2 / (scale * (4 - factor)) if useless else 0.99 - 0.01 * (factor - 1) + 0.01 * split
            measured = {"query_l1": l1, "record_l1": l1, "ndcg": ndcg, "listed": 0 if useless else p.max_queries}
            rows += [{"cell": setting.name, "group": group, "seed": seed, **measured} for seed in range(seeds)]
    rivals = {(name, float(epsilon)): [0.5] * seeds for name in RIVALS.values() for epsilon in range(1, 6)}
    return Results.of(rows, rivals=rivals)
