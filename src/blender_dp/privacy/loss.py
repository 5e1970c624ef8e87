"""Privacy losses and the promises made with them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


class Model(StrEnum):
    """Who sees the raw record."""

    CENTRAL = "central"  # the curator does, and publishes only private results
    LOCAL = "local"  # nobody does: it is randomised on the device


@dataclass(frozen=True)
class Loss:
    """An (ε, δ) bound on how much an output can tell about one user."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Promise:
    """What one group of users is promised: the loss, the unit it protects and between which data sets it holds."""

    group: str
    model: Model
    loss: Loss
    unit: str = "user: at most m records of each user are used"
    neighbours: str = "substitution: one user's records are replaced by any others; group sizes are public"
