"""The privacy ledger: append-only, every entry holding the digest of the one before, composed over rounds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

import dp_accounting

from blender_dp.collector.documents import canonical
from blender_dp.errors import DocumentError
from blender_dp.privacy.loss import Loss

START = "0" * 64
"""The digest before the first entry."""


@dataclass(frozen=True)
class Entry:
    """What one group of users has spent in one round."""

    number: int
    campaign: str
    round: str
    group: str
    epsilon: str
    delta: str
    before: str
    """The digest of the entry before."""

    def text(self) -> str:
        """The entry as canonical JSON."""
        return canonical(asdict(self)).decode()

    @property
    def digest(self) -> str:
        """What the next entry holds."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    @property
    def loss(self) -> Loss:
        """What was spent, exactly."""
        return Loss(Fraction(self.epsilon), Fraction(self.delta))


def parse(text: str) -> Entry:
    """Read an entry back."""
    return Entry(**json.loads(text))


def check(entries: Iterable[tuple[str, str]]) -> list[Entry]:
    """Check a whole chain of (entry, digest); any change, gap or swap is a `DocumentError`."""
    checked: list[Entry] = []
    before = START
    for number, (text, digest) in enumerate(entries, 1):
        entry = parse(text)
        if (entry.number, entry.before) != (number, before) or entry.digest != digest:
            problem = f"entry {number} does not follow from the one before"
            raise DocumentError("ledger", problem, "It was tampered with: compare with the digest in a signed release")
        checked.append(entry)
        before = digest
    return checked


def composed(losses: Sequence[Loss], delta: float) -> float:
    """The ε of all losses together at this δ, by Google's accountant for privacy loss distributions.

    Each loss is taken as an (ε, δ) event, whatever mechanism it was: an upper bound.
    """
    if not losses:
        return 0.0
    accountant = dp_accounting.pld.PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE)
    for loss in losses:
        accountant.compose(dp_accounting.EpsilonDeltaDpEvent(float(loss.epsilon), float(loss.delta)))
    return float(accountant.get_epsilon(delta))
