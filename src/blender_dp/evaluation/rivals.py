"""A rival that is really run: heavy hitters from clients alone, with local hashing and a list from an oracle.

Local-only systems first have to discover candidates. This one gets the truly most popular queries as candidates from an
oracle, for free, so any real system of its kind does worse. Everyone is a client; URLs are left out, which also helps it.
"""

from __future__ import annotations

import math

import numpy as np

from blender_dp.evaluation.draws import binomial
from blender_dp.evaluation.population import Population
from blender_dp.sampling import Entropy
from blender_dp.stages import Floats


def local_hashing(population: Population, epsilon: float, candidates: int, entropy: Entropy) -> tuple[Floats, Floats]:
    """The true and the estimated shares of the most popular queries, by optimised local hashing (Wang et al. 2017).

    Every client hashes its query to one of g = e^ε + 1 values, reports its own value with probability p, and a uniform other
    one otherwise. A candidate is supported by a report of its hash: by those who have it with probability p, and by
    everyone else with probability 1 / g. Hash functions are independent, so the supports of two candidates are, too.
    """
    held = population.top_queries[:candidates]
    g = max(2, round(math.exp(epsilon)) + 1)
    p, q = math.exp(epsilon) / (math.exp(epsilon) + g - 1), 1 / g
    size = held.size
    own = binomial(held, np.full(size, p), entropy)
    others = binomial(population.users - held, np.full(size, q), entropy)
    estimates = (own + others - population.users * q) / (p - q) / population.users
    return held / population.users, estimates


def query_ndcg(truth: Floats, estimates: Floats, length: int) -> float:
    """The papers' NDCG of the top queries by estimate, without URLs. `truth` is in descending order."""
    total = truth[:length].sum()
    discount = np.log2(np.arange(min(length, truth.size)) + 2.0)
    gains = np.exp2(truth[np.argsort(-estimates, kind="stable")[:length]] / total) - 1
    ideal = np.exp2(truth[:length] / total) - 1
    return float((gains / discount).sum() / (ideal / discount).sum())
