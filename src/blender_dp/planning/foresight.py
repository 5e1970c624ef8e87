"""What can be said about a run before it reads or spends anything, from ε, δ and the number of users if it is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from blender_dp.evaluation.shapes import shape_of
from blender_dp.mechanisms.listing_by_count import by_count
from blender_dp.pipeline.collection import Collection
from blender_dp.planning.listing import needed_count
from blender_dp.planning.outline import Outline
from blender_dp.planning.setting import Setting
from blender_dp.privacy.rounding import readable
from blender_dp.release.manifest import Sizes

_REFERENCE = "aol"
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


def foresee(collection: Collection, discovery_users: int | None, levels: int = 2) -> Foresight:
    """Everything that is known without any data. With public candidates no list is empty."""
    parameters = collection.parameters
    listed_anyway = parameters.candidates is not None and len(parameters.candidates) > 0
    return Foresight(
        needed_count=needed_count(by_count(collection.discovery)),
        discovery_users=discovery_users,
        empty=_chance_of_nothing(discovery_users, collection, levels)
        if discovery_users is not None and not listed_anyway
        else None,
        budget=f"ε = {readable(parameters.epsilon)} and δ = {readable(parameters.delta)}",
    )


class _Discovery(Setting):
    """A setting in which only the number of discovery users matters: the other groups may be too small for a plan."""

    @cached_property
    def sizes(self) -> Sizes:
        """As many users in every group."""
        return Sizes(self.users, self.users, self.users)


def _chance_of_nothing(discovery_users: int, collection: Collection, levels: int) -> float:
    """The probability that nothing is listed, as `blender-dp plan` computes it."""
    outline = Outline.of_shape(_REFERENCE, shape_of(_REFERENCE), levels)
    setting = _Discovery(outline, max(discovery_users, 1), 1.0, collection.parameters)
    return float(setting.length.probabilities[0])
