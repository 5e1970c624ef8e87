"""Shapes that nothing in the package was fitted to, and a way to simulate collections on them without any shortcut."""

from __future__ import annotations

import numpy as np

from blender_dp.evaluation.experiment import Outcome, collect
from blender_dp.evaluation.groups import Groups
from blender_dp.evaluation.population import Population
from blender_dp.logs.synthetic import uniform
from blender_dp.planning.outline import Outline, Records
from blender_dp.planning.setting import Setting
from blender_dp.sampling import Entropy

USERS = 60_000


def zipf(queries: int, exponent: float) -> np.ndarray:
    shares = np.arange(1.0, queries + 1) ** -exponent
    return shares / shares.sum()


def outline(name: str, query_shares: np.ndarray, urls: int, url_exponent: float, users: int = USERS) -> Outline:
    within = zipf(urls, url_exponent)

    def records(queries: np.ndarray, _: str) -> Records:
        shares = np.outer(query_shares[queries], within).ravel()
        return Records(np.repeat(queries, urls), shares)

    return Outline(name, users, query_shares, records)


SHAPES = {
    "uniform": outline("uniform", np.full(200, 1 / 200), 2, 1.0),
    "one giant query": outline("one giant query", np.append([0.5], 0.5 * zipf(5_000, 0.9)), 3, 1.5),
    "thirty flat URLs": outline("thirty flat URLs", zipf(500, 1.0), 30, 0.0),
    "Zipf 0.7": outline("Zipf 0.7", zipf(5_000, 0.7), 3, 1.5),
    "Zipf 1.8": outline("Zipf 1.8", zipf(5_000, 1.8), 3, 1.5),
}


def brute_force(setting: Setting, seed: int) -> Outcome:
    """Draw every user's record, choose the opt-in users one by one, and simulate every client's report."""
    entropy = Entropy.seeded(f"brute force {seed}")
    records = setting.outline.records(np.arange(setting.outline.query_shares.size), "")
    drawn = np.searchsorted(np.cumsum(records.shares), uniform(setting.users, entropy))
    counts = np.bincount(drawn, minlength=records.shares.size)[: records.shares.size]
    held = np.flatnonzero(counts)
    query_of = records.query_of[held]

    # Of equal counts, the first name in the alphabet is kept, which is not that of the more popular query.
    name_of = np.argsort(uniform(setting.outline.query_shares.size, entropy))

    def names(wanted):
        return [(f"q{name_of[query_of[record]]:05}", f"u{record:06}") for record in wanted.tolist()]

    people = Population(setting.users, query_of, counts[held], names)
    groups = Groups.of(people, setting.opt_in, float(setting.parameters.f_o), seed)
    return collect(setting.collection, groups, entropy)
