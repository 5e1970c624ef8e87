"""What can be said about a run before it reads or spends anything, from ε, δ and the number of users if it is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blender_dp.evaluation.shapes import shape_of
from blender_dp.mechanisms.listing_by_count import by_count
from blender_dp.pipeline.collection import Collection
from blender_dp.planning.listing import listing_probabilities, needed_count
from blender_dp.planning.outline import Outline
from blender_dp.privacy.rounding import readable
from blender_dp.stages import Floats

_REFERENCE, _QUERIES = "aol", 200
_PROBABLE = 0.5


@dataclass(frozen=True)
class Foresight:
    """What a list needs, and whether it will probably be empty."""

    needed_count: int
    """A record that this many discovery users have is listed with a probability of 1/2 or more."""
    discovery_users: int | None
    """None: unknown before the log is read."""
    empty: float | None
    """The probability that nothing is listed in a log like AOL's; None if the number of users is unknown."""
    budget: str

    @property
    def note(self) -> str:
        """What a record needs to be listed."""
        needed, known = self.needed_count, self.discovery_users
        rule = f"A record is listed with a probability of 1/2 or more if at least {needed:,}"
        if known is None:
            return f"{rule} discovery users have it."
        if needed > known:
            return f"{rule} discovery users have it; there are about {known:,}."
        return f"{rule} of about {known:,} discovery users have it ({needed / known:.2%})."

    @property
    def warning(self) -> str | None:
        """Why the list will probably be empty; None if it will not, or if that cannot be known."""
        if self.discovery_users is None or self.empty is None or self.empty < _PROBABLE:
            return None
        users, needed = self.discovery_users, f"about {self.needed_count:,} discovery users must have the same record"
        fix = "Add opt-in users, or pass public candidates; 'blender-dp plan' says how many users are enough"
        if self.needed_count > users:
            return (
                f"the list will probably be empty: {needed}, but there are only {users:,} of them, at {self.budget}. {fix}."
            )
        return (
            f"the list will probably be empty: {needed}, of {users:,} ({self.needed_count / users:.1%}), at {self.budget}. "
            f"In a log like AOL's it would be empty with a probability of {self.empty:.0%}. {fix}."
        )


def foresee(collection: Collection, discovery_users: int | None) -> Foresight:
    """Everything that is known without any data. With public candidates no list is empty."""
    of_count, parameters = by_count(collection.discovery), collection.parameters
    listed_anyway = parameters.candidates is not None and len(parameters.candidates) > 0
    return Foresight(
        needed_count=needed_count(of_count),
        discovery_users=discovery_users,
        empty=None if discovery_users is None or listed_anyway else _chance_of_nothing(discovery_users, of_count),
        budget=f"ε = {readable(parameters.epsilon)} and δ = {readable(parameters.delta)}",
    )


def _chance_of_nothing(discovery_users: int, of_count: Floats) -> float:
    records = Outline.of_shape(_REFERENCE, shape_of(_REFERENCE)).records(np.arange(_QUERIES), "0")
    return float(np.prod(1 - listing_probabilities(records.shares, discovery_users, of_count)))
