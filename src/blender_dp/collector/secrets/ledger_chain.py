"""The privacy ledger: append-only, every entry holding the digest of the one before, composed over rounds."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import reduce

from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution, from_privacy_parameters

from blender_dp.collector.secrets.signing import canonical
from blender_dp.errors import DocumentError
from blender_dp.privacy.loss import Loss

START = "0" * 64
"""The digest before the first entry."""

_GRID = 100_000  # points of the accountant's distribution
_FINEST = 1e-10  # a δ below this is too near to the rounding errors of its floats to prove anything with
_MOST = 500  # beyond this e^ε is no number to a computer, and no promise to anybody


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


_TYPES = {name: int if name == "number" else str for name in Entry.__dataclass_fields__}


def parse(text: str) -> Entry:
    """Read an entry back; it must be written just as it was, to the byte."""
    try:
        entry = Entry(**json.loads(text))
        known = {name: type(value) for name, value in asdict(entry).items()} == _TYPES and entry.text() == text
    except (ValueError, TypeError):
        known = False
    if not known:
        raise DocumentError("ledger", "has an entry that is none", "It was tampered with, or is damaged: restore it")
    return entry


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


def composed(losses: Sequence[Loss]) -> Fraction:
    """An upper bound on the ε of all losses together, at the sum of their δ: the plain sum, or less if that can be proved.

    Each loss is taken as an (ε, δ) bound, whatever mechanism it was. The accountant works in floats, on a grid that makes
    its work the same for any losses: what it is given is rounded against us, and an answer above the plain sum, or none
    (it may say that no ε is enough), loses to the plain sum, which always holds.
    """
    plain, delta = sum((loss.epsilon for loss in losses), Fraction(0)), sum(loss.delta for loss in losses)
    if len(losses) < 2 or not _FINEST < delta < 1 or plain > _MOST:
        return plain  # nothing to compose, or nothing to gain: at a δ of 1 an accountant would allow anything
    largest = max(loss.epsilon for loss in losses)
    proved = _accounted(Counter(losses), math.nextafter(float(delta), 0), float(plain) / _GRID)
    return min(max(Fraction(proved), largest), plain) if math.isfinite(proved) else plain


def _accounted(losses: Counter[Loss], delta: float, step: float) -> float:
    """The ε at δ that Google's accountant can prove for so many of each loss; infinite if it can prove none."""
    parts = [
        from_privacy_parameters(DifferentialPrivacyParameters(_above(loss.epsilon), _above(loss.delta)), step)
        .self_compose(times)
        for loss, times in losses.items()
    ]  # fmt: skip
    return float(reduce(PrivacyLossDistribution.compose, parts).get_epsilon_for_delta(delta))


def _above(value: Fraction) -> float:
    """A float that is not below the value; 0 stays 0."""
    return math.nextafter(float(value), math.inf) if value else 0.0
