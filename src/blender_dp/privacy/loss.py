"""Privacy losses and the promises made with them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


class Model(StrEnum):
    """Who sees the raw record."""

    CENTRAL = "central"  # the curator, who publishes only private results
    LOCAL = "local"  # only the user's device, which randomises it


@dataclass(frozen=True)
class Loss:
    """An (ε, δ) bound on how much an output can reveal about one user."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Promise:
    """The promise to one group of users: the loss, the unit of protection and which data sets are neighbours."""

    group: str
    model: Model
    loss: Loss
    unit: str = "user: at most m records of each user are used"
    neighbours: str = "substitution: one user's records are replaced by any others; group sizes are public"
