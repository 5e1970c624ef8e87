"""What cannot be written down in closed form, L1, NDCG and the errors of the estimator, from a few simulated collections.

Every simulated collection runs the mechanisms and the estimator that ship, on counts (`evaluation.experiment`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blender_dp.evaluation.experiment import Outcome, collect
from blender_dp.pipeline.collection import Collection
from blender_dp.planning import draws
from blender_dp.planning.setting import Setting
from blender_dp.sampling import Entropy
from blender_dp.stages import Floats

_NORMAL = 1.96  # the quantile of a normal distribution for 95 %


@dataclass(frozen=True)
class Expected:
    """An expected value, and the range that contains 95 % of all collections."""

    mean: float
    low: float
    high: float
    error: float = 0.0
    """The standard error of the mean; 0 if it is exact."""

    @classmethod
    def of(cls, values: Sequence[float], least: float = 0.0, most: float = math.inf) -> Expected:
        """Estimate it from several collections; no value can be below `least` or above `most`."""
        mean, runs = float(np.mean(values)), len(values)
        spread = float(np.std(values, ddof=1)) if runs > 1 else 0.0
        reach = _student(runs - 1) * spread * math.sqrt(1 + 1 / runs)
        return cls(mean, max(mean - reach, least), min(mean + reach, most), spread / math.sqrt(runs))


def _student(freedom: int) -> float:
    """The quantile of Student's distribution for 95 %: a spread that a few runs estimate may be too small.

    The series of Fisher and Cornish, within 1 % from 3 degrees of freedom on.
    """
    z, v = _NORMAL, float(max(freedom, 1))
    terms = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96, (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + terms[0] / v + terms[1] / v**2 + terms[2] / v**3


@dataclass(frozen=True, eq=False)
class Simulated:
    """The results of several simulated collections."""

    outcomes: tuple[Outcome, ...]
    queries: int
    """The number of queries that could be listed."""

    def expected(self, name: str, estimates: str = "blended") -> Expected:
        """The expected value of one of the `Scores` of some estimates."""
        values = [float(getattr(outcome.scores[estimates], name)) for outcome in self.outcomes]
        return Expected.of(values, most=1.0 if name == "ndcg" else math.inf)

    def standard_errors(self) -> Floats:
        """The standard error that a release states for each query, most popular first; NaN if it was never listed."""
        total, listed = np.zeros(self.queries), np.zeros(self.queries)
        for outcome in self.outcomes:
            numbers = outcome.listed.queries
            total[numbers] += _stated(outcome)
            listed[numbers] += 1
        mean: Floats = np.divide(total, listed, out=np.full(self.queries, np.nan), where=listed > 0)
        return mean

    def calibration(self) -> float:
        """The root mean square of all errors, in units of the stated standard errors: 1 if those are right."""
        squares = [(_errors(one) / _stated(one)) ** 2 for one in self.outcomes if one.queries]
        return math.sqrt(float(np.concatenate(squares).mean())) if squares else math.nan

    def coverage(self) -> float:
        """The share of the listed queries whose 95 % interval contains the truth; NaN if nothing was listed."""
        covered = [outcome.covered_queries * outcome.queries for outcome in self.outcomes if outcome.queries]
        listed = sum(outcome.queries for outcome in self.outcomes)
        return sum(covered) / listed if listed else math.nan


def _stated(outcome: Outcome) -> Floats:
    """The stated standard errors; half a user is as good as none."""
    half = 0.5 / outcome.listing.context.discovery_users
    return np.maximum(np.sqrt(outcome.result.blended.queries.variance[:-1]), half)


def _errors(outcome: Outcome) -> Floats:
    return outcome.result.blended.queries.share[:-1] - outcome.query_truth[:-1]


def simulated(setting: Setting, runs: int, stream: str = "plan", *, yardsticks: bool = False) -> Simulated:
    """Simulate this many collections. All of them use the design of the channel that the first one chose.

    With `yardsticks`, the clients alone are scored by their best estimates (`evaluation.experiment`).
    """
    collection = setting.collection
    first = _collection(setting, collection, f"{stream} 0", yardsticks)
    if first.queries:
        collection = collection.with_design(first.listing.design)
    others = (_collection(setting, collection, f"{stream} {seed}", yardsticks) for seed in range(1, runs))
    return Simulated((first, *others), setting.head)


def _collection(setting: Setting, collection: Collection, stream: str, yardsticks: bool) -> Outcome:
    entropy, sizes = Entropy.seeded(stream), setting.sizes
    people = draws.population(setting.records(stream), setting.users, setting.outline.levels, entropy)
    groups = draws.groups(people, sizes.discovery, sizes.calibration, entropy)
    return collect(collection, groups, entropy, draws.reports, yardsticks=yardsticks)
