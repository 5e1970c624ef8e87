"""What cannot be written down in closed form, L1, NDCG and the errors of the estimator, from a few simulated collections.

Every simulated collection runs the real mechanisms and the real estimator, on counts (`evaluation.experiment`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from blender_dp.evaluation.experiment import Outcome, completed
from blender_dp.evaluation.fast_reports import fast_reports
from blender_dp.pipeline.collection import Collection
from blender_dp.planning.expected import Expected
from blender_dp.planning.planned_list import planned_list
from blender_dp.planning.setting import Setting
from blender_dp.planning.stated_errors import StatedErrors, stated
from blender_dp.sampling import Entropy
from blender_dp.stages import Design, Floats, Integers


@dataclass(frozen=True, eq=False)
class Simulated:
    """The results of several simulated collections."""

    outcomes: tuple[Outcome, ...]
    ranks: tuple[Integers, ...]
    """For each collection, the places of the listed queries in the setting's outline."""

    def expected(self, name: str, group: str = "blended") -> Expected:
        """The expected value of one of the `Scores` of a group's estimates: `opt_in`, `client` or `blended`."""
        values = [float(getattr(getattr(outcome, group), name)) for outcome in self.outcomes]
        return Expected.of(values, most=1.0 if name == "ndcg" else math.inf)

    @cached_property
    def standard_errors(self) -> StatedErrors:
        """The standard errors that releases state for each query, most popular first."""
        return StatedErrors.of([stated(one) for one in self.outcomes], [_errors(one) for one in self.outcomes], self.ranks)

    def calibration(self) -> float:
        """The root mean square of all errors, in units of the stated standard errors: 1 if those are right."""
        errors = self.standard_errors
        return math.sqrt(float(errors.actual_squares.sum() / errors.listed.sum())) if errors.listed.size else math.nan

    def coverage(self) -> float:
        """The share of the listed queries whose 95 % interval contains the truth; NaN if nothing was listed."""
        covered = [outcome.covered_queries * outcome.queries for outcome in self.outcomes if outcome.queries]
        listed = sum(outcome.queries for outcome in self.outcomes)
        return sum(covered) / listed if listed else math.nan


def _errors(outcome: Outcome) -> Floats:
    return outcome.result.blended.queries.share[:-1] - outcome.query_truth[:-1]


def simulated(
    setting: Setting,
    runs: int,
    stream: str = "plan",
    *,
    designs: int = 1,
    design: Design | None = None,
) -> Simulated:
    """Simulate this many collections. The first ones choose the `designs` of the channel that the others use in turn.

    With a `design`, none has to choose.
    """

    def run(collection: Collection, seed: int) -> tuple[Outcome, Integers]:
        return _collection(setting, collection, f"{stream} {seed}")

    choosing = [run(setting.collection, seed) for seed in range(0 if design else min(designs, runs))]
    preferred = [design] if design else [one.listing.design for one, _ in choosing if one.queries]
    chosen = [setting.collection.with_design(one) for one in preferred] or [setting.collection]
    others = [run(chosen[seed % len(chosen)], seed) for seed in range(len(choosing), runs)]
    outcomes, ranks = zip(*choosing, *others, strict=True)
    return Simulated(outcomes, ranks)


def _collection(setting: Setting, collection: Collection, stream: str) -> tuple[Outcome, Integers]:
    """One collection, and the places of its listed queries in the outline."""
    entropy = Entropy.seeded(stream)
    made = planned_list(setting, collection, stream, entropy)
    outcome = completed(collection, made.groups, made.listing, made.listed, entropy, fast_reports)
    return outcome, made.ranks[made.listed.queries]
